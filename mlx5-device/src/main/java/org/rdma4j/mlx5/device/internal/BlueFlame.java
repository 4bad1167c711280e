package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Work queue entries of one queue pair that came whole through a doorbell page. A few at a time: what finds no place,
 * or is not looked at in time, is read from host memory as any other. Written by any thread, taken on the engine's.
 */
final class BlueFlame {
  /** Bytes of an entry that fit: half of the register, as the driver alternates. */
  static final int BYTES = 1 << Limits.LOG_BLUE_FLAME - 1;

  private static final int PLACES = 16;
  private static final int FREE = -1;
  private static final int BUSY = -2;

  private final AtomicIntegerArray states = new AtomicIntegerArray(PLACES); // index of the entry, or FREE, or BUSY
  private final MemorySegment memory = Arena.ofAuto().allocate((long) PLACES * BYTES, Long.BYTES);
  private final int[] lengths = new int[PLACES];

  BlueFlame() {
    for (int i = 0; i < PLACES; i++) {
      states.set(i, FREE);
    }
  }

  /** Keeps an entry; index is its first block, 16 bits. */
  void put(int index, MemorySegment source, long from, int length) {
    int place = index % PLACES;
    int before = states.get(place);
    if (length > BYTES || before == BUSY || !states.compareAndSet(place, before, BUSY)) {
      return;
    }
    MemorySegment.copy(source, from, memory, (long) place * BYTES, length);
    lengths[place] = length;
    states.set(place, index);
  }

  /** Takes an entry; the bytes that came with it, or 0 when it is not here. */
  int take(int index, MemorySegment target) {
    int place = index % PLACES;
    if (states.get(place) != index || !states.compareAndSet(place, index, BUSY)) {
      return 0;
    }
    int length = lengths[place];
    MemorySegment.copy(memory, (long) place * BYTES, target, 0, length);
    states.set(place, FREE);
    return length;
  }

  /** The queue begins anew. */
  void clear() {
    for (int i = 0; i < PLACES; i++) {
      int before = states.get(i);
      if (before != BUSY) {
        states.compareAndSet(i, before, FREE);
      }
    }
  }
}
