package org.rdma4j.ib.core.verbs;

/** What a completed work request did, with the kernel's numbers since 6.2 ({@code enum ib_wc_opcode}). */
public enum WcOpcode {
  /** SEND of any kind. */
  SEND(0),
  /** RDMA WRITE, with or without immediate. */
  RDMA_WRITE(1),
  /** RDMA READ. */
  RDMA_READ(2),
  /** Compare and swap. */
  COMP_SWAP(3),
  /** Fetch and add. */
  FETCH_ADD(4),
  /** Bind of a memory window. */
  BIND_MW(5),
  /** Local invalidate. */
  LOCAL_INV(6),
  /** Large send offload. */
  LSO(7),
  /** Flush of memory of the peer. */
  FLUSH(8),
  /** Atomic write of 8 bytes. */
  ATOMIC_WRITE(9),
  /** Fast registration. */
  REG_MR(10),
  /** Masked compare and swap. */
  MASKED_COMP_SWAP(11),
  /** Masked fetch and add. */
  MASKED_FETCH_ADD(12),
  /** Receive of a SEND. */
  RECV(128),
  /** Receive consumed by an RDMA WRITE with immediate. */
  RECV_RDMA_WITH_IMM(129);

  private static final WcOpcode[] BY_NUMBER = new WcOpcode[130];

  static {
    for (WcOpcode opcode : values()) {
      BY_NUMBER[opcode.number] = opcode;
    }
  }

  private final int number;

  WcOpcode(int number) {
    this.number = number;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /** {@return true for completions of a receive queue} */
  public boolean isReceive() {
    return (number & 128) != 0;
  }

  /**
   * Finds an opcode by its number without allocating.
   *
   * @param number the kernel's number
   * @return the opcode, or null where the number has none
   */
  public static WcOpcode of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
  }
}
