package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.engine.ScatterGather;

/** A scatter/gather element in a ring: {@code struct rxe_sge} of {@code rdma_user_rxe.h}. */
public final class SgeSlot {
  /** {@code addr}, u64. */
  public static final long ADDRESS = 0;
  /** {@code length}, u32. */
  public static final long LENGTH = 8;
  /** {@code lkey}, u32. */
  public static final long LKEY = 12;
  /** Bytes of an element. */
  public static final int BYTES = 16;

  private SgeSlot() {}

  static void write(MemorySegment memory, long list, int index, long address, int length, int lkey) {
    long at = list + (long) index * BYTES;
    memory.set(JAVA_LONG, at + ADDRESS, address);
    memory.set(JAVA_INT, at + LENGTH, length);
    memory.set(JAVA_INT, at + LKEY, lkey);
  }

  /** Copies elements out; the caller has bounded the count. */
  static void read(MemorySegment memory, long list, int count, ScatterGather target) {
    for (int i = 0; i < count; i++) {
      long at = list + (long) i * BYTES;
      target.add(
          memory.get(JAVA_LONG, at + ADDRESS), memory.get(JAVA_INT, at + LENGTH), memory.get(JAVA_INT, at + LKEY));
    }
  }
}
