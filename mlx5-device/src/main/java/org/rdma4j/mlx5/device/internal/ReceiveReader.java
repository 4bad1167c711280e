package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.roce.engine.ReceiveWork;

/** Reads the scatter list of a receive: data segments up to the end marker, or to the end of the entry. */
final class ReceiveReader {
  /** Largest receive entry in bytes, as {@code max_wqe_sz_rq} says. */
  static final int MAX_BYTES = Limits.MAX_WQE_BYTES / 2;

  static final int SEGMENT = 16;
  static final int MAX_SEGMENTS = MAX_BYTES / SEGMENT;
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int LKEY = 4;
  private static final int ADDRESS = 8;
  private static final int END_KEY = 0x100;

  private ReceiveReader() {}

  static void read(MemorySegment entry, int from, int to, ReceiveWork work) {
    work.sge.clear();
    for (int at = from; at + SEGMENT <= to && work.sge.count() < work.sge.capacity(); at += SEGMENT) {
      int bytes = entry.get(DWORD, at);
      int key = entry.get(DWORD, at + LKEY);
      if (bytes == 0 && key == END_KEY) {
        return;
      }
      if (bytes > 0) { // The top bit would be inline data, which receives have not.
        work.sge.add(entry.get(QWORD, at + ADDRESS), bytes, key);
      }
    }
  }
}
