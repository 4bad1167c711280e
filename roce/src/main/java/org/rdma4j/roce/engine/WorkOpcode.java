package org.rdma4j.roce.engine;

/**
 * Opcodes of work requests, and what their completions report; numbers of {@code enum ib_wr_opcode} and {@code
 * ib_wc_opcode}.
 */
public final class WorkOpcode {
  /** RDMA WRITE. */
  public static final int RDMA_WRITE = 0;
  /** RDMA WRITE with immediate data. */
  public static final int RDMA_WRITE_WITH_IMM = 1;
  /** SEND. */
  public static final int SEND = 2;
  /** SEND with immediate data. */
  public static final int SEND_WITH_IMM = 3;
  /** RDMA READ. */
  public static final int RDMA_READ = 4;
  /** Compare and swap of 8 bytes. */
  public static final int ATOMIC_CMP_AND_SWP = 5;
  /** Fetch and add of 8 bytes. */
  public static final int ATOMIC_FETCH_AND_ADD = 6;
  /** Local invalidate. */
  public static final int LOCAL_INV = 7;
  /** Binding of a memory window. */
  public static final int BIND_MW = 8;
  /** SEND that invalidates a key of the receiver. */
  public static final int SEND_WITH_INV = 9;
  /** Flush of memory of the peer (IBA annex A19). */
  public static final int FLUSH = 14;
  /** Atomic write of 8 bytes (IBA annex A19). */
  public static final int ATOMIC_WRITE = 15;
  /** Fast registration of a memory region. */
  public static final int REG_MR = 0x20;

  private WorkOpcode() {}

  /**
   * {@return whether the request is executed by the host, without a packet}
   *
   * @param opcode of a work request
   */
  public static boolean isLocal(int opcode) {
    return opcode == LOCAL_INV || opcode == BIND_MW || opcode == REG_MR;
  }

  /**
   * {@return whether the request is an atomic on 8 bytes}
   *
   * @param opcode of a work request
   */
  public static boolean isAtomic(int opcode) {
    return opcode == ATOMIC_CMP_AND_SWP || opcode == ATOMIC_FETCH_AND_ADD;
  }

  /**
   * {@return whether the request is a WRITE, with immediate or without}
   *
   * @param opcode of a work request
   */
  public static boolean isWrite(int opcode) {
    return opcode == RDMA_WRITE || opcode == RDMA_WRITE_WITH_IMM;
  }

  /**
   * {@return whether the responder answers each such request with a response of its own, of which only so many may be
   * outstanding: READ, atomics, atomic write, flush}
   *
   * @param opcode of a work request
   */
  public static boolean hasResponse(int opcode) {
    return (opcode >= RDMA_READ && opcode <= ATOMIC_FETCH_AND_ADD) || opcode == FLUSH || opcode == ATOMIC_WRITE;
  }

  /** What the completion of a work request reports as its opcode. */
  static int completionOpcode(int opcode) {
    return switch (opcode) {
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> 1;
      case RDMA_READ -> 2;
      case ATOMIC_CMP_AND_SWP -> 3;
      case ATOMIC_FETCH_AND_ADD -> 4;
      case BIND_MW -> 5;
      case LOCAL_INV -> 6;
      case FLUSH -> 8;
      case ATOMIC_WRITE -> 9;
      case REG_MR -> 10;
      default -> 0;
    };
  }

  /** The name of an opcode, for messages. */
  static String name(int opcode) {
    return switch (opcode) {
      case RDMA_WRITE -> "RDMA_WRITE";
      case RDMA_WRITE_WITH_IMM -> "RDMA_WRITE_WITH_IMM";
      case SEND -> "SEND";
      case SEND_WITH_IMM -> "SEND_WITH_IMM";
      case RDMA_READ -> "RDMA_READ";
      case ATOMIC_CMP_AND_SWP -> "ATOMIC_CMP_AND_SWP";
      case ATOMIC_FETCH_AND_ADD -> "ATOMIC_FETCH_AND_ADD";
      case LOCAL_INV -> "LOCAL_INV";
      case BIND_MW -> "BIND_MW";
      case SEND_WITH_INV -> "SEND_WITH_INV";
      case FLUSH -> "FLUSH";
      case ATOMIC_WRITE -> "ATOMIC_WRITE";
      case REG_MR -> "REG_MR";
      default -> "opcode " + opcode;
    };
  }
}
