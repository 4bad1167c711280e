package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * Offsets in a slot of a send ring: {@code struct rxe_send_wqe} of {@code rdma_user_rxe.h}, which begins with {@code
 * struct rxe_send_wr} and ends with {@code struct rxe_dma_info} and its scatter/gather list or inline data.
 */
public final class SendSlot {
  /** {@code wr.wr_id}, u64. */
  public static final long WR_ID = 0x00;
  /**
   * {@code wr.reserved}, u32: here the shared receive queue that a request of an XRC initiator is for; the kernel's
   * driver has no XRC.
   */
  public static final long XRC_SRQ = 0x08;
  /** {@code wr.opcode}, u32. */
  public static final long OPCODE = 0x0c;
  /** {@code wr.send_flags}, u32. */
  public static final long SEND_FLAGS = 0x10;
  /** {@code wr.ex}: immediate data (big-endian) or the key to invalidate, u32. */
  public static final long EX = 0x14;
  /** {@code wr.wr.rdma.remote_addr} and {@code wr.wr.atomic.remote_addr}, u64. */
  public static final long REMOTE_ADDRESS = 0x18;
  /** {@code wr.wr.rdma.rkey}, u32. */
  public static final long RDMA_RKEY = 0x20;
  /** {@code wr.wr.atomic.compare_add}, u64. */
  public static final long COMPARE_ADD = 0x20;
  /** {@code wr.wr.atomic.swap}, u64. */
  public static final long SWAP = 0x28;
  /** {@code wr.wr.atomic.rkey}, u32. */
  public static final long ATOMIC_RKEY = 0x30;
  /** {@code wr.wr.flush.length}, u32; the device goes by {@code dma.length}, as the kernel. */
  public static final long FLUSH_LENGTH = 0x20;
  /** {@code wr.wr.flush.rkey}, u32. */
  public static final long FLUSH_RKEY = 0x24;
  /** {@code wr.wr.flush.type}: placement types, u8. */
  public static final long FLUSH_TYPE = 0x28;
  /** {@code wr.wr.flush.level}: selectivity level, u8. */
  public static final long FLUSH_LEVEL = 0x29;
  /** {@code wr.wr.ud.remote_qpn}, u32. */
  public static final long REMOTE_QPN = 0x18;
  /** {@code wr.wr.ud.remote_qkey}, u32. */
  public static final long REMOTE_QKEY = 0x1c;
  /** {@code wr.wr.ud.pkey_index}, u16. */
  public static final long PKEY_INDEX = 0x20;
  /** {@code wr.wr.ud.ah_num}, u32. */
  public static final long AH_NUMBER = 0x24;
  /** {@code wr.wr.ud.av}, the address vector in place of an address handle. */
  public static final long UD_AV = 0x38;
  /** {@code wr.wr.mw.addr}, u64. */
  public static final long MW_ADDRESS = 0x18;
  /** {@code wr.wr.mw.length}, u64. */
  public static final long MW_LENGTH = 0x20;
  /** {@code wr.wr.mw.mr_lkey}, u32. */
  public static final long MW_REGION_LKEY = 0x28;
  /** {@code wr.wr.mw.mw_rkey}: the key that names the window, u32. */
  public static final long MW_RKEY = 0x2c;
  /** {@code wr.wr.mw.rkey}: the key it shall have, u32. */
  public static final long MW_NEW_RKEY = 0x30;
  /** {@code wr.wr.mw.access}, u32. */
  public static final long MW_ACCESS = 0x34;
  /**
   * {@code wr.wr.reg.mr}, u64: in the kernel, which alone posts these, a pointer; here the key that the region was made
   * with.
   */
  public static final long REG_REGION = 0x18;
  /** {@code wr.wr.reg.key}, u32. */
  public static final long REG_KEY = 0x20;
  /** {@code wr.wr.reg.access}, u32. */
  public static final long REG_ACCESS = 0x24;
  /** {@code status}, u32. */
  public static final long STATUS = 0x90;
  /** {@code state}, u32. */
  public static final long STATE = 0x94;
  /** {@code iova}, u64. */
  public static final long IOVA = 0x98;
  /** {@code dma.length}, u32. */
  public static final long LENGTH = 0xb8;
  /** {@code dma.resid}, u32. */
  public static final long RESID = 0xbc;
  /** {@code dma.cur_sge}, u32. */
  public static final long CURRENT_SGE = 0xc0;
  /** {@code dma.num_sge}, u32. */
  public static final long SGE_COUNT = 0xc4;
  /** {@code dma.sge_offset}, u32. */
  public static final long SGE_OFFSET = 0xc8;
  /** Scatter/gather list or inline data. */
  public static final long DATA = 0xd0;

  private SendSlot() {}

  /** Clears what the device works with while it executes the request. */
  static void start(MemorySegment memory, long slot, long iova, int length, int sgeCount) {
    memory.set(JAVA_INT, slot + STATUS, 0);
    memory.set(JAVA_INT, slot + STATE, 0);
    memory.set(JAVA_LONG, slot + IOVA, iova);
    setLength(memory, slot, length, sgeCount);
    memory.set(JAVA_INT, slot + CURRENT_SGE, 0);
    memory.set(JAVA_INT, slot + SGE_OFFSET, 0);
  }

  static void setLength(MemorySegment memory, long slot, int length, int sgeCount) {
    memory.set(JAVA_INT, slot + LENGTH, length);
    memory.set(JAVA_INT, slot + RESID, length);
    memory.set(JAVA_INT, slot + SGE_COUNT, sgeCount);
  }
}
