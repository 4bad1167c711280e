package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Atomics on eight bytes of a segment, in the host's byte order. Where the bytes lie across a boundary the processor
 * has no atomic access, so there they are atomic among the requests of the engine's thread only.
 */
final class SegmentAtomics {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final ValueLayout.OfLong UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED;

  private SegmentAtomics() {}

  /** Returns the value that was there. */
  static long compareAndSwap(MemorySegment segment, long at, long compare, long swap) {
    if (isAligned(segment, at)) {
      return (long) LONG.compareAndExchange(segment, at, compare, swap);
    }
    long original = segment.get(UNALIGNED, at);
    if (original == compare) {
      segment.set(UNALIGNED, at, swap);
    }
    return original;
  }

  /** Returns the value that was there. */
  static long fetchAndAdd(MemorySegment segment, long at, long addend) {
    if (isAligned(segment, at)) {
      return (long) LONG.getAndAdd(segment, at, addend);
    }
    long original = segment.get(UNALIGNED, at);
    segment.set(UNALIGNED, at, original + addend);
    return original;
  }

  static void set(MemorySegment segment, long at, long value) {
    if (isAligned(segment, at)) {
      LONG.setVolatile(segment, at, value);
    } else {
      segment.set(UNALIGNED, at, value);
    }
  }

  private static boolean isAligned(MemorySegment segment, long at) {
    return ((segment.address() + at) & (Long.BYTES - 1)) == 0;
  }
}
