package org.rdma4j.roce.engine;

import java.util.Arrays;
import org.rdma4j.roce.packet.Opcode;

/** Which packet opcode carries which part of which work request, as one table. */
final class PacketOpcodes {
  private static final int NONE = -1;
  private static final int COLUMNS = 4;
  private static final int ROWS = WorkOpcode.ATOMIC_WRITE + 1;
  /** Rows by work request opcode; columns ONLY, FIRST, LAST, MIDDLE (bit 0: not the end, bit 1: not the start). */
  private static final int[] RC = new int[ROWS * COLUMNS];

  private static final int[] UC = new int[ROWS * COLUMNS];
  private static final int[] UD = new int[ROWS * COLUMNS];

  static {
    Arrays.fill(RC, NONE);
    Arrays.fill(UC, NONE);
    Arrays.fill(UD, NONE);
    row(RC, WorkOpcode.SEND, Opcode.RC_SEND_ONLY, Opcode.RC_SEND_FIRST, Opcode.RC_SEND_LAST, Opcode.RC_SEND_MIDDLE);
    row(
        RC,
        WorkOpcode.SEND_WITH_IMM,
        Opcode.RC_SEND_ONLY_WITH_IMMEDIATE,
        Opcode.RC_SEND_FIRST,
        Opcode.RC_SEND_LAST_WITH_IMMEDIATE,
        Opcode.RC_SEND_MIDDLE);
    row(
        RC,
        WorkOpcode.SEND_WITH_INV,
        Opcode.RC_SEND_ONLY_WITH_INVALIDATE,
        Opcode.RC_SEND_FIRST,
        Opcode.RC_SEND_LAST_WITH_INVALIDATE,
        Opcode.RC_SEND_MIDDLE);
    row(
        RC,
        WorkOpcode.RDMA_WRITE,
        Opcode.RC_RDMA_WRITE_ONLY,
        Opcode.RC_RDMA_WRITE_FIRST,
        Opcode.RC_RDMA_WRITE_LAST,
        Opcode.RC_RDMA_WRITE_MIDDLE);
    row(
        RC,
        WorkOpcode.RDMA_WRITE_WITH_IMM,
        Opcode.RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
        Opcode.RC_RDMA_WRITE_FIRST,
        Opcode.RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
        Opcode.RC_RDMA_WRITE_MIDDLE);
    row(RC, WorkOpcode.RDMA_READ, Opcode.RC_RDMA_READ_REQUEST, NONE, NONE, NONE);
    row(RC, WorkOpcode.ATOMIC_CMP_AND_SWP, Opcode.RC_COMPARE_SWAP, NONE, NONE, NONE);
    row(RC, WorkOpcode.ATOMIC_FETCH_AND_ADD, Opcode.RC_FETCH_ADD, NONE, NONE, NONE);
    row(RC, WorkOpcode.FLUSH, Opcode.RC_FLUSH, NONE, NONE, NONE);
    row(RC, WorkOpcode.ATOMIC_WRITE, Opcode.RC_ATOMIC_WRITE, NONE, NONE, NONE);
    row(UC, WorkOpcode.SEND, Opcode.UC_SEND_ONLY, Opcode.UC_SEND_FIRST, Opcode.UC_SEND_LAST, Opcode.UC_SEND_MIDDLE);
    row(
        UC,
        WorkOpcode.SEND_WITH_IMM,
        Opcode.UC_SEND_ONLY_WITH_IMMEDIATE,
        Opcode.UC_SEND_FIRST,
        Opcode.UC_SEND_LAST_WITH_IMMEDIATE,
        Opcode.UC_SEND_MIDDLE);
    row(
        UC,
        WorkOpcode.RDMA_WRITE,
        Opcode.UC_RDMA_WRITE_ONLY,
        Opcode.UC_RDMA_WRITE_FIRST,
        Opcode.UC_RDMA_WRITE_LAST,
        Opcode.UC_RDMA_WRITE_MIDDLE);
    row(
        UC,
        WorkOpcode.RDMA_WRITE_WITH_IMM,
        Opcode.UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE,
        Opcode.UC_RDMA_WRITE_FIRST,
        Opcode.UC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
        Opcode.UC_RDMA_WRITE_MIDDLE);
    row(UD, WorkOpcode.SEND, Opcode.UD_SEND_ONLY, NONE, NONE, NONE);
    row(UD, WorkOpcode.SEND_WITH_IMM, Opcode.UD_SEND_ONLY_WITH_IMMEDIATE, NONE, NONE, NONE);
  }

  private PacketOpcodes() {}

  private static void row(int[] table, int work, int only, int first, int last, int middle) {
    table[work * COLUMNS] = only;
    table[work * COLUMNS + 1] = first;
    table[work * COLUMNS + 2] = last;
    table[work * COLUMNS + 3] = middle;
  }

  /** The packet opcode, or -1 when the service has none for this part of this request. */
  static int select(QpKind kind, int work, boolean start, boolean end) {
    int[] table = kind == QpKind.UC ? UC : kind.isDatagram() ? UD : RC;
    int opcode = work < 0 || work >= ROWS ? NONE : table[work * COLUMNS + (end ? 0 : 1) + (start ? 0 : 2)];
    return opcode == NONE ? NONE : opcode | kind.transport();
  }
}
