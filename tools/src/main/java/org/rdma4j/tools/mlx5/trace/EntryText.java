package org.rdma4j.tools.mlx5.trace;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;

/** Entries of work and completion queues in words. */
final class EntryText {
  private static final Layout CONTROL = Layouts.of("wqe_ctrl");
  private static final Layout REMOTE = Layouts.of("wqe_raddr");
  private static final Layout ATOMIC = Layouts.of("wqe_atomic");
  private static final Layout DATA = Layouts.of("wqe_data");
  private static final Layout INLINE = Layouts.of("wqe_inline");
  private static final Layout DATAGRAM = Layouts.of("wqe_datagram");
  private static final Layout XRC = Layouts.of("wqe_xrc");
  private static final Field OPCODE = CONTROL.field("opcode");
  private static final Field INDEX = CONTROL.field("wqe_index");
  private static final Field SEGMENTS = CONTROL.field("ds");
  private static final Field COMPLETION = CONTROL.field("completion");
  private static final Field IMMEDIATE = CONTROL.field("imm");
  private static final Field IS_INLINE = INLINE.field("inline");
  private static final Field INLINE_BYTES = INLINE.field("byte_count");
  private static final Field BYTES = DATA.field("byte_count");
  private static final Field KEY = DATA.field("lkey");
  private static final Field CQE_OPCODE = Layouts.CQE.field("opcode");
  private static final Field CQE_COUNTER = Layouts.CQE.field("wqe_counter");
  private static final Field CQE_QPN = Layouts.CQE.field("qpn");
  private static final Field CQE_BYTES = Layouts.CQE.field("byte_count");
  private static final Field CQE_SYNDROME = Layouts.CQE.field("syndrome");
  private static final Field CQE_VENDOR = Layouts.CQE.field("vendor_syndrome");
  private static final int SEGMENT = 16;
  private static final int END_OF_LIST = 0x100;
  private static final int REQUESTER = 0;
  private static final int REQUESTER_ERROR = 13;

  private EntryText() {}

  static String opcode(int number) {
    return switch (number) {
      case 0x00 -> "NOP";
      case 0x01 -> "SEND_INVAL";
      case 0x08 -> "RDMA_WRITE";
      case 0x09 -> "RDMA_WRITE_IMM";
      case 0x0a -> "SEND";
      case 0x0b -> "SEND_IMM";
      case 0x10 -> "RDMA_READ";
      case 0x11 -> "ATOMIC_CS";
      case 0x12 -> "ATOMIC_FA";
      case 0x25 -> "UMR";
      default -> "opcode 0x%x".formatted(number);
    };
  }

  /** A request of a send queue: its control segment, then one word for each other segment. */
  static String send(MemorySegment entry, QpType type) {
    StringBuilder text =
        new StringBuilder("entry %d %s".formatted(INDEX.get(entry, 0), opcode(OPCODE.get(entry, 0))));
    if (COMPLETION.get(entry, 0) != 0) {
      text.append(", signaled");
    }
    if (IMMEDIATE.get(entry, 0) != 0) {
      text.append(", imm 0x%x".formatted(IMMEDIATE.get(entry, 0)));
    }
    long at = SEGMENT;
    long end = Math.min(entry.byteSize(), (long) SEGMENTS.get(entry, 0) * SEGMENT);
    if (type == QpType.XRC_INI && at < end) {
      at += segment(text, "xrc", XRC, entry, at);
    }
    if ((type == QpType.UD || type == QpType.GSI) && at < end) {
      at += segment(text, "to", DATAGRAM, entry, at);
    }
    int opcode = OPCODE.get(entry, 0);
    boolean atomic = opcode == 0x11 || opcode == 0x12;
    if (at < end && (atomic || opcode == 0x08 || opcode == 0x09 || opcode == 0x10)) {
      at += segment(text, "remote", REMOTE, entry, at);
    }
    if (at < end && atomic) {
      at += segment(text, "atomic", ATOMIC, entry, at);
    }
    if (opcode == 0x25) {
      return text.append(", %d bytes of segments".formatted(end - at)).toString();
    }
    return data(text, entry, at, end);
  }

  private static long segment(StringBuilder text, String word, Layout layout, MemorySegment entry, long at) {
    text.append("; ").append(word).append(' ').append(layout.format(entry, at));
    return layout.size();
  }

  private static String data(StringBuilder text, MemorySegment entry, long from, long end) {
    for (long at = from; at + SEGMENT <= end; at += SEGMENT) {
      if (IS_INLINE.isSet(entry, at)) {
        return text.append("; %d bytes inline".formatted(INLINE_BYTES.get(entry, at))).toString();
      }
      if (BYTES.get(entry, at) == 0 && KEY.get(entry, at) == END_OF_LIST) {
        break;
      }
      segment(text, "data", DATA, entry, at);
    }
    return text.toString();
  }

  /** A request of a receive queue; one of a shared queue begins with a link. */
  static String receive(MemorySegment entry, boolean shared) {
    return data(new StringBuilder("receive"), entry, shared ? SEGMENT : 0, entry.byteSize());
  }

  static String completion(MemorySegment entry) {
    int opcode = CQE_OPCODE.get(entry, 0);
    String text =
        "%s, QP 0x%x, entry %d".formatted(kind(opcode), CQE_QPN.get(entry, 0), CQE_COUNTER.get(entry, 0));
    if (opcode >= REQUESTER_ERROR) {
      return text
          + ", syndrome 0x%x, vendor syndrome 0x%x"
              .formatted(CQE_SYNDROME.get(entry, 0), CQE_VENDOR.get(entry, 0));
    }
    return opcode == REQUESTER ? text : text + ", %d bytes".formatted(CQE_BYTES.get(entry, 0));
  }

  private static String kind(int opcode) {
    return switch (opcode) {
      case REQUESTER -> "requester";
      case 1 -> "responder, WRITE with immediate";
      case 2 -> "responder, SEND";
      case 3 -> "responder, SEND with immediate";
      case 4 -> "responder, SEND with invalidate";
      case 5 -> "resize";
      case REQUESTER_ERROR -> "requester in error";
      case 14 -> "responder in error";
      default -> "opcode " + opcode;
    };
  }
}
