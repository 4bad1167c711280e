package org.rdma4j.mlx5.ib;

import static org.rdma4j.mlx5.ib.BigEndian.INT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;

/** A completion queue entry of 64 bytes where it lies (kernel: {@code struct mlx5_cqe64}). */
final class CompletionEntry {
  static final int BYTES = 64;
  static final int REQUESTER = 0;
  static final int WRITE_IMMEDIATE = 1;
  static final int SEND_IMMEDIATE = 3;
  static final int SEND_INVALIDATE = 4;
  static final int RESIZE = 5;
  static final int REQUESTER_ERROR = 13;
  static final int RESPONDER_ERROR = 14;

  static final WcOpcode[] OPCODES = WcOpcode.values();

  private static final int INVALID = 15;
  private static final int INVALID_OWNER = 0xf0;
  private static final int FLAGS_AND_QP = 0x18;
  private static final int SRQ = 0x20;
  private static final int IMMEDIATE = 0x24;
  private static final int BYTE_COUNT = 0x2c;
  private static final int VENDOR_SYNDROME = 0x36;
  private static final int SYNDROME = 0x37;
  private static final int QPN = 0x38;
  private static final int COUNTER = 0x3c;
  private static final int OWNER = 0x3f;
  private static final int NUMBER_MASK = 0xff_ffff;
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private CompletionEntry() {}

  /** Marks all entries as not written. */
  static void initialize(MemorySegment ring) {
    for (long at = 0; at < ring.byteSize(); at += BYTES) {
      ring.set(ValueLayout.JAVA_BYTE, at + OWNER, (byte) INVALID_OWNER);
    }
  }

  /** Opcode of an entry, or -1 where the card has not written it in this round. */
  static int opcode(MemorySegment ring, long at, int round) {
    int last = (byte) BYTE.getAcquire(ring, at + OWNER) & 0xff;
    int opcode = last >> 4;
    return opcode == INVALID || (last & 1) != (round & 1) ? -1 : opcode;
  }

  /** Copies an entry to where it belongs to a round. */
  static void copy(MemorySegment from, long at, MemorySegment to, long place, int round) {
    MemorySegment.copy(from, at, to, place, BYTES);
    int last = to.get(ValueLayout.JAVA_BYTE, place + OWNER);
    to.set(ValueLayout.JAVA_BYTE, place + OWNER, (byte) (last & ~1 | round & 1));
  }

  static boolean isOfSend(int opcode) {
    return opcode == REQUESTER || opcode == REQUESTER_ERROR;
  }

  static boolean isError(int opcode) {
    return opcode >= REQUESTER_ERROR;
  }

  static int qpNumber(MemorySegment ring, long at) {
    return ring.get(INT, at + QPN) & NUMBER_MASK;
  }

  static int srqNumber(MemorySegment ring, long at) {
    return ring.get(INT, at + SRQ) & NUMBER_MASK;
  }

  static int counter(MemorySegment ring, long at) {
    return ring.get(INT, at + COUNTER) >>> 16;
  }

  static int byteCount(MemorySegment ring, long at) {
    return ring.get(INT, at + BYTE_COUNT);
  }

  static int immediate(MemorySegment ring, long at) {
    return ring.get(INT, at + IMMEDIATE);
  }

  static int sourceQp(MemorySegment ring, long at) {
    return ring.get(INT, at + FLAGS_AND_QP) & NUMBER_MASK;
  }

  static boolean hasRoute(MemorySegment ring, long at) {
    return (ring.get(INT, at + FLAGS_AND_QP) >>> 28 & 3) != 0;
  }

  static int vendorError(MemorySegment ring, long at) {
    return ring.get(ValueLayout.JAVA_BYTE, at + VENDOR_SYNDROME) & 0xff;
  }

  static int syndrome(MemorySegment ring, long at) {
    return ring.get(ValueLayout.JAVA_BYTE, at + SYNDROME) & 0xff;
  }

  /** The status that a syndrome stands for ({@code cq.c:mlx5_handle_error_cqe}). */
  static WcStatus status(MemorySegment ring, long at) {
    return switch (ring.get(ValueLayout.JAVA_BYTE, at + SYNDROME)) {
      case 0x01 -> WcStatus.LOC_LEN_ERR;
      case 0x02 -> WcStatus.LOC_QP_OP_ERR;
      case 0x04 -> WcStatus.LOC_PROT_ERR;
      case 0x05 -> WcStatus.WR_FLUSH_ERR;
      case 0x06 -> WcStatus.MW_BIND_ERR;
      case 0x10 -> WcStatus.BAD_RESP_ERR;
      case 0x11 -> WcStatus.LOC_ACCESS_ERR;
      case 0x12 -> WcStatus.REM_INV_REQ_ERR;
      case 0x13 -> WcStatus.REM_ACCESS_ERR;
      case 0x14 -> WcStatus.REM_OP_ERR;
      case 0x15 -> WcStatus.RETRY_EXC_ERR;
      case 0x16 -> WcStatus.RNR_RETRY_EXC_ERR;
      case 0x22 -> WcStatus.REM_ABORT_ERR;
      default -> WcStatus.GENERAL_ERR;
    };
  }
}
