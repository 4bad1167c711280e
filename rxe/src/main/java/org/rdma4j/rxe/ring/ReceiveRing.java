package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.roce.engine.ReceiveWork;

/** Receive work requests on their way to the engine: a queue pair's own, or those of a shared receive queue. */
public final class ReceiveRing {
  private final WorkRing ring;
  private final MemorySegment memory;
  private final int maxSge;
  private long taken; // engine only

  /**
   * Makes an empty ring.
   *
   * @param capacity requests it must hold at least, 1 or more
   * @param maxSge most scatter/gather elements of a request
   */
  public ReceiveRing(int capacity, int maxSge) {
    this.ring = new WorkRing(capacity, (int) ReceiveSlot.DATA + maxSge * SgeSlot.BYTES);
    this.memory = ring.memory();
    this.maxSge = maxSge;
  }

  /** {@return the ring itself, with its lock} */
  public WorkRing ring() {
    return ring;
  }

  /** {@return most scatter/gather elements of a request} */
  public int maxSge() {
    return maxSge;
  }

  /**
   * Writes a request into a slot. For the holder of the lock.
   *
   * @param slot offset of the slot
   * @param wr the request, with no more elements than fit
   */
  public void write(long slot, ReceiveWorkRequest wr) {
    long length = 0;
    for (int i = 0; i < wr.sgeCount(); i++) {
      length += Integer.toUnsignedLong(wr.sgeLength(i));
      SgeSlot.write(memory, slot + ReceiveSlot.DATA, i, wr.sgeAddress(i), wr.sgeLength(i), wr.sgeLkey(i));
    }
    memory.set(JAVA_LONG, slot + ReceiveSlot.WR_ID, wr.wrId());
    memory.set(JAVA_INT, slot + ReceiveSlot.LENGTH, (int) length);
    memory.set(JAVA_INT, slot + ReceiveSlot.RESID, (int) length);
    memory.set(JAVA_INT, slot + ReceiveSlot.CURRENT_SGE, 0);
    memory.set(JAVA_INT, slot + ReceiveSlot.SGE_COUNT, wr.sgeCount());
    memory.set(JAVA_INT, slot + ReceiveSlot.SGE_OFFSET, 0);
  }

  /**
   * Takes the oldest request. Engine only. A count of elements that no slot has room for, which only somebody hostile
   * writes, is taken as none: the receive then fits no message but an empty one.
   *
   * @param work filled with a copy
   * @return false when there is none
   */
  public boolean take(ReceiveWork work) {
    if (!ring.has(taken)) {
      return false;
    }
    long slot = ring.slot(taken);
    work.id = memory.get(JAVA_LONG, slot + ReceiveSlot.WR_ID);
    work.sge.clear();
    int count = memory.get(JAVA_INT, slot + ReceiveSlot.SGE_COUNT);
    if (count > 0 && count <= maxSge) {
      SgeSlot.read(memory, slot + ReceiveSlot.DATA, count, work.sge);
    }
    taken++;
    ring.release(taken);
    return true;
  }

  /**
   * Moves all requests to another, empty ring of as many elements a request. The caller holds the locks of both and
   * is the engine.
   *
   * @param target the other ring
   * @return false when they do not fit there; nothing has changed then
   */
  public boolean moveTo(ReceiveRing target) {
    int count = size();
    if (count > target.ring.capacity()) {
      return false;
    }
    for (int i = 0; i < count; i++) {
      long from = ring.slot(taken + i);
      MemorySegment.copy(memory, from, target.memory, target.ring.nextSlot(), ring.ring().slotBytes());
      target.ring.advance();
    }
    target.ring.publish();
    taken += count;
    ring.release(taken);
    return true;
  }

  /** {@return requests that are posted and not taken} */
  public int size() {
    return ring.size();
  }
}
