package org.rdma4j.provider.contract.suite;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Patterns of bytes that differ from seed to seed and from place to place. */
final class Bytes {
  private Bytes() {}

  private static byte at(int seed, int index) {
    return (byte) (seed * 31 + index * 7 + (index >>> 8) * 13 + 1);
  }

  static void fill(MemorySegment memory, long offset, int length, int seed) {
    for (int i = 0; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, offset + i, at(seed, i));
    }
  }

  static void verify(MemorySegment memory, long offset, int length, int seed, String where) {
    verify(memory, offset, 0, length, seed, where);
  }

  /** A part of the pattern, from one of its bytes on. */
  static void verify(MemorySegment memory, long offset, int from, int length, int seed, String where) {
    for (int i = 0; i < length; i++) {
      byte found = memory.get(ValueLayout.JAVA_BYTE, offset + i);
      if (found != at(seed, from + i)) {
        throw new Broken(
            String.format(
                "byte %d of %d in %s is 0x%02x, not 0x%02x", from + i, length, where, found, at(seed, from + i)));
      }
    }
  }

  static void untouched(MemorySegment memory, long offset, int length, String where) {
    for (int i = 0; i < length; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, offset + i) != 0) {
        throw new Broken("byte " + (offset + i) + " of " + where + " was written, and must not be");
      }
    }
  }
}
