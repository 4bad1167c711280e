package org.rdma4j.ulp.demo;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that differ from message to message and from place to place, so that any mix-up shows. */
final class Pattern {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long GOLDEN_RATIO = 0x9e37_79b9_7f4a_7c15L;

  private Pattern() {}

  /** Fills a message, whose length is a multiple of 8. */
  static void fill(MemorySegment message, long seed) {
    for (long i = 0; i < message.byteSize(); i += Long.BYTES) {
      message.set(WORD, i, word(seed, i));
    }
  }

  /** Whether a message has all the bytes that {@link #fill} gave it. */
  static boolean matches(MemorySegment message, long seed) {
    for (long i = 0; i < message.byteSize(); i += Long.BYTES) {
      if (message.get(WORD, i) != word(seed, i)) {
        return false;
      }
    }
    return true;
  }

  private static long word(long seed, long place) {
    long mixed = (seed + 1) * GOLDEN_RATIO + place;
    mixed = (mixed ^ mixed >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    return mixed ^ mixed >>> 27;
  }
}
