package org.rdma4j.ib.core.verbs;

/** What a send work request asks for, with the kernel's numbers ({@code enum ib_wr_opcode}). */
public enum WrOpcode {
  /** RDMA WRITE. */
  RDMA_WRITE(0),
  /** RDMA WRITE that consumes a receive and delivers 32 bits. */
  RDMA_WRITE_WITH_IMM(1),
  /** SEND. */
  SEND(2),
  /** SEND that delivers 32 bits. */
  SEND_WITH_IMM(3),
  /** RDMA READ. */
  RDMA_READ(4),
  /** Compare and swap of 8 bytes. */
  ATOMIC_CMP_AND_SWP(5),
  /** Fetch and add of 8 bytes. */
  ATOMIC_FETCH_AND_ADD(6),
  /** Local invalidate of a key. */
  LOCAL_INV(7),
  /** Bind of a memory window. */
  BIND_MW(8),
  /** SEND that invalidates a key of the receiver. */
  SEND_WITH_INV(9),
  /** Large send offload. */
  TSO(10),
  /** RDMA READ that invalidates the local key (iWARP). */
  RDMA_READ_WITH_INV(11),
  /** Masked compare and swap. */
  MASKED_CMP_AND_SWP(12),
  /** Masked fetch and add. */
  MASKED_FETCH_AND_ADD(13),
  /** Flush of memory of the peer: what was written is visible to all, or persistent, when it completes. */
  FLUSH(14),
  /** Write of 8 bytes that no reader sees a part of. */
  ATOMIC_WRITE(15),
  /** Fast registration of a memory region. */
  REG_MR(0x20);

  private static final WrOpcode[] BY_NUMBER = new WrOpcode[0x21];

  static {
    for (WrOpcode opcode : values()) {
      BY_NUMBER[opcode.number] = opcode;
    }
  }

  private final int number;

  WrOpcode(int number) {
    this.number = number;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /**
   * Finds an opcode by its number without allocating.
   *
   * @param number the kernel's number
   * @return the opcode, or null where the number has none
   */
  public static WrOpcode of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
  }
}
