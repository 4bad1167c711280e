package org.rdma4j.ulp.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The message of the client, and of the server, which sends it without a meaning: where memory is.
 *
 * <pre>
 *  0               8           12          16
 * +---------------+-----------+-----------+
 * |    address    |   R_Key   |  length   |   big-endian
 * +---------------+-----------+-----------+
 * </pre>
 */
final class RdmaInfo {
  /** Bytes of the message. */
  static final int LENGTH = 16;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int RKEY = 8;
  private static final int SIZE = 12;

  private RdmaInfo() {}

  static void write(MemorySegment message, long address, int rkey, int length) {
    message.set(LONG, 0, address);
    message.set(INT, RKEY, rkey);
    message.set(INT, SIZE, length);
  }

  static long address(MemorySegment message) {
    return message.get(LONG, 0);
  }

  static int rkey(MemorySegment message) {
    return message.get(INT, RKEY);
  }

  static int length(MemorySegment message) {
    return message.get(INT, SIZE);
  }
}
