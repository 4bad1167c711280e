package org.rdma4j.rxe.ring;

/** Offsets in a slot of a receive ring: {@code struct rxe_recv_wqe} of {@code rdma_user_rxe.h}. */
public final class ReceiveSlot {
  /** {@code wr_id}, u64. */
  public static final long WR_ID = 0x00;
  /** {@code dma.length}, u32. */
  public static final long LENGTH = 0x10;
  /** {@code dma.resid}, u32. */
  public static final long RESID = 0x14;
  /** {@code dma.cur_sge}, u32. */
  public static final long CURRENT_SGE = 0x18;
  /** {@code dma.num_sge}, u32. */
  public static final long SGE_COUNT = 0x1c;
  /** {@code dma.sge_offset}, u32. */
  public static final long SGE_OFFSET = 0x20;
  /** Scatter/gather list. */
  public static final long DATA = 0x28;

  private ReceiveSlot() {}
}
