package org.rdma4j.tools.mlx5.trace;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;

/**
 * The registers of region 0 in words: the initialization segment by the names of its fields, doorbell pages by what is
 * rung. Values are big-endian, as the card has them.
 */
final class RegisterNames {
  private static final int PAGE = 4096;
  private static final int CQ = 0x20;
  private static final int EQ_ARM = 0x40;
  private static final int EQ_UPDATE = 0x48;
  private static final int SEND = 0x800;
  private static final int NUMBER_SHIFT = 8;
  private static final int EQ_SHIFT = 24;
  private static final int COUNTER = 0xff_ffff;
  private static final int INDEX = 0xffff;
  private static final int SOLICITED = 1 << 24;
  private static final int SEQUENCE_SHIFT = 28;
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private RegisterNames() {}

  /** A read, or a write of four bytes into the initialization segment. */
  static String dword(long offset, int value) {
    return "%s = 0x%08x".formatted(name(offset), value);
  }

  private static String name(long offset) {
    if (offset < Layouts.INIT_SEGMENT.size()) {
      List<String> names = new ArrayList<>();
      collect(Layouts.INIT_SEGMENT, "", 0, offset, names);
      if (!names.isEmpty()) {
        return String.join("/", names);
      }
    }
    return "0x%x".formatted(offset);
  }

  private static void collect(Layout layout, String prefix, long base, long offset, List<String> names) {
    for (Field field : layout.fields()) {
      long from = base + field.offset();
      if (offset >= from && offset < from + field.length()) {
        if (field.inner() == null) {
          names.add(prefix + field.name());
        } else {
          collect(field.inner(), prefix + field.name() + ".", from, offset, names);
        }
      }
    }
  }

  /** A write of four bytes. */
  static String write(long offset, int value) {
    int at = (int) (offset % PAGE);
    if (offset >= Layouts.INIT_SEGMENT.size() && (at == EQ_ARM || at == EQ_UPDATE)) {
      return page(offset)
          + "EQ %d consumer index %d%s".formatted(value >>> EQ_SHIFT, value & COUNTER, at == EQ_ARM ? ", arm" : "");
    }
    return dword(offset, value);
  }

  /** A write of eight bytes, which is a doorbell. */
  static String write(long offset, long value) {
    int at = (int) (offset % PAGE);
    int first = (int) (value >>> Integer.SIZE);
    int second = (int) value;
    if (at == CQ) {
      return page(offset)
          + "CQ 0x%x arm %d%s, consumer index %d"
              .formatted(
                  second & COUNTER,
                  first >>> SEQUENCE_SHIFT & 3,
                  (first & SOLICITED) != 0 ? " for solicited" : "",
                  first & COUNTER);
    }
    if (at >= SEND) {
      return page(offset) + send(first, second);
    }
    return "0x%x = 0x%016x".formatted(offset, value);
  }

  private static String page(long offset) {
    return "doorbell page %d: ".formatted(offset / PAGE);
  }

  private static String send(int first, int second) {
    return "send, QP 0x%x, entry %d %s"
        .formatted(second >>> NUMBER_SHIFT, first >>> NUMBER_SHIFT & INDEX, EntryText.opcode(first & 0xff));
  }

  /** A block, which is a work queue entry that is handed over whole. */
  static String block(long offset, MemorySegment source, long from, int length) {
    long head = source.get(QWORD, from);
    return page(offset) + send((int) (head >>> Integer.SIZE), (int) head) + ", handed over whole (BlueFlame), "
        + length + " bytes";
  }
}
