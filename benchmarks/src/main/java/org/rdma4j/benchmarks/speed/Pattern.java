package org.rdma4j.benchmarks.speed;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Bytes that depend on a seed, so that stale ones are told from fresh ones. */
final class Pattern {
  private static final long STEP = 0x9e37_79b9_7f4a_7c15L;

  private Pattern() {}

  /** Fills memory, whose size is a multiple of 8. */
  static void fill(MemorySegment memory, int seed) {
    long value = seed * STEP;
    for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
      memory.set(JAVA_LONG_UNALIGNED, at, value ^= value << 13 ^ at);
      value += STEP;
    }
  }

  /** Throws when two pieces of memory differ from some byte on. */
  static void verify(MemorySegment expected, MemorySegment found, long from, String what) {
    long size = expected.byteSize();
    long mismatch = MemorySegment.mismatch(expected, from, size, found, from, size);
    if (mismatch >= 0) {
      throw new IllegalStateException("payload of " + what + " is wrong at byte " + (from + mismatch));
    }
  }
}
