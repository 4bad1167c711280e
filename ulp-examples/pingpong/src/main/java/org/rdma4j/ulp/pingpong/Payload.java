package org.rdma4j.ulp.pingpong;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What {@code -c} validates: the client sets the first byte of every page of the message to 0, and the server looks
 * for it. The other bytes must still be what both buffers were full of, which the original does not look at.
 */
final class Payload {
  private static final int PAGE = 4096;

  private Payload() {}

  /** Marks a message that is to be sent. */
  static void mark(MemorySegment message) {
    for (long page = 0; page < message.byteSize(); page += PAGE) {
      message.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
    }
  }

  /** The first page at or after {@code from} that is not as it was sent, or -1. */
  static long findWrong(MemorySegment message, byte fill, long from) {
    for (long page = from; page * PAGE < message.byteSize(); page++) {
      long start = page * PAGE;
      long end = Math.min(start + PAGE, message.byteSize());
      if (message.get(ValueLayout.JAVA_BYTE, start) != 0) {
        return page;
      }
      for (long i = start + 1; i < end; i++) {
        if (message.get(ValueLayout.JAVA_BYTE, i) != fill) {
          return page;
        }
      }
    }
    return -1;
  }
}
