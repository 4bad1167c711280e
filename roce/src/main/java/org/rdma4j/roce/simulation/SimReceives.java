package org.rdma4j.roce.simulation;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.ReceiveWork;

/** A receive queue of a simulation: every receive is a slot of memory that is posted, taken and completed in turn. */
final class SimReceives implements ReceiveSource {
  private static final byte CANARY = (byte) 0xee;
  private static final int FREE = 0;
  private static final int POSTED = 1;
  private static final int TAKEN = 2;

  final SplittableRandom random;
  final int slotBytes;
  /** The queue pair it belongs to; null when it is shared. */
  SimQp owner;
  /** Its queue pair has ended: nothing more is posted. */
  boolean closed;
  private final SimMemory memory;
  private final boolean shared;
  private final int[] states;
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final ArrayDeque<Integer> posted = new ArrayDeque<>();
  private int takenNow;
  private boolean bad;
  private boolean spoilsNext;

  SimReceives(SimMemory memory, int slots, boolean shared, SplittableRandom random) {
    this.random = random;
    this.memory = memory;
    this.shared = shared;
    this.slotBytes = (int) (memory.segment.byteSize() / slots);
    this.states = new int[slots];
    for (int i = 0; i < slots; i++) {
      free.add(i);
    }
  }

  /** Posts one receive; false when all slots are in use. */
  boolean post() {
    Integer slot = free.poll();
    if (slot == null) {
      return false;
    }
    memory.segment.asSlice((long) slot * slotBytes, slotBytes).fill(CANARY);
    states[slot] = POSTED;
    posted.add(slot);
    return true;
  }

  /** Notes that a receive is complete, for the first time since it was posted. */
  int complete(long id) {
    int slot = (int) id;
    if (states[slot] != TAKEN) {
      throw new AssertionError("receive " + id + " completed in state " + states[slot]);
    }
    states[slot] = FREE;
    takenNow--;
    free.add(slot);
    return slot;
  }

  /** The next receive that is taken names its memory by a wrong key. */
  void spoilNext() {
    spoilsNext = true;
  }

  /** Whether a receive had a wrong key. */
  boolean isBad() {
    return bad;
  }

  /** Receives that are taken and not complete. */
  int taken() {
    return takenNow;
  }

  int postedNow() {
    return posted.size();
  }

  long offset(int slot) {
    return (long) slot * slotBytes;
  }

  SimMemory memory() {
    return memory;
  }

  /** Whether nothing was written behind a length, as far as one looks. */
  boolean isClean(int slot, int from) {
    for (int i = from; i < Math.min(slotBytes, from + 64); i++) {
      if (memory.segment.get(JAVA_BYTE, offset(slot) + i) != CANARY) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean take(ReceiveWork work) {
    Integer slot = posted.poll();
    if (slot == null) {
      return false;
    }
    states[slot] = TAKEN;
    takenNow++;
    work.id = slot;
    work.sge.clear();
    // Slots differ in how they are cut into elements.
    int first = slot % 3 == 0 ? slotBytes : slotBytes / (7 + slot);
    int second = slot % 3 == 1 ? slotBytes - first : (slotBytes - first) / 3;
    long address = memory.address(offset(slot));
    work.sge.add(address, first, spoilsNext ? memory.key() ^ 1 : memory.key());
    bad |= spoilsNext;
    spoilsNext = false;
    if (first < slotBytes) {
      work.sge.add(address + first, second, memory.key());
    }
    if (first + second < slotBytes) {
      work.sge.add(address + first + second, slotBytes - first - second, memory.key());
    }
    return true;
  }

  @Override
  public boolean isShared() {
    return shared;
  }
}
