package org.rdma4j.ulp.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * What a ping carries: its number as text, then characters from 'A' to 'z' in a circle that starts one further with
 * each ping, and a zero at the end.
 */
final class PingData {
  private static final byte FIRST = 'A';
  private static final int CIRCLE = 'z' - FIRST + 1;

  private PingData() {}

  /** Fills a buffer for a ping, counted from 0. */
  static void fill(MemorySegment buffer, int ping) {
    byte[] head = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
    MemorySegment.copy(head, 0, buffer, ValueLayout.JAVA_BYTE, 0, head.length);
    int next = Math.floorMod(ping, CIRCLE);
    for (long i = head.length; i < buffer.byteSize() - 1; i++) {
      buffer.set(ValueLayout.JAVA_BYTE, i, (byte) (FIRST + next));
      next = next + 1 == CIRCLE ? 0 : next + 1;
    }
    buffer.set(ValueLayout.JAVA_BYTE, buffer.byteSize() - 1, (byte) 0);
  }

  /** Bytes up to and with the first zero, which is what the server writes back; all, where there is none. */
  static int length(MemorySegment buffer) {
    long length = 0;
    while (length < buffer.byteSize() && buffer.get(ValueLayout.JAVA_BYTE, length) != 0) {
      length++;
    }
    return (int) Math.min(length + 1, buffer.byteSize());
  }

  /** The text before the first zero. */
  static String text(MemorySegment buffer) {
    byte[] bytes = buffer.toArray(ValueLayout.JAVA_BYTE);
    int length = 0;
    while (length < bytes.length && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
  }
}
