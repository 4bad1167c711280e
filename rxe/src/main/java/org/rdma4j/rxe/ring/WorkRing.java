package org.rdma4j.rxe.ring;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.QueueLock;

/**
 * A ring of work requests: any thread posts, the engine takes. The posters' own copy of the producer index runs
 * ahead of the published one while a chain or batch is being written; it belongs to whoever holds the lock.
 */
public final class WorkRing {
  private final Ring ring;
  private final QueueLock lock = new QueueLock();
  private final int mask;
  private int producer;
  private int published;

  /**
   * Makes an empty ring.
   *
   * @param capacity requests it must hold at least, 1 or more
   * @param elementBytes bytes of a request
   */
  public WorkRing(int capacity, int elementBytes) {
    ring = new Ring(capacity, elementBytes);
    mask = ring.mask();
  }

  /** {@return the memory and its indices} */
  public Ring ring() {
    return ring;
  }

  /** {@return the memory that {@link #nextSlot()} and {@link #slot(int)} point into} */
  public MemorySegment memory() {
    return ring.memory();
  }

  /** {@return requests it holds when full} */
  public int capacity() {
    return mask;
  }

  /** {@return true when the caller may post, until {@link #unlock()}; false when the ring is closed} */
  public boolean lock() {
    return lock.lock();
  }

  /** Lets others post. */
  public void unlock() {
    lock.unlock();
  }

  /**
   * Begins a batch, which others wait for.
   *
   * @return false when the ring is closed
   */
  public boolean openBatch() {
    return lock.openBatch();
  }

  /**
   * Goes from an open batch to posting, as if {@link #lock()} had returned true.
   *
   * @return false when the ring was closed meanwhile
   */
  public boolean lockBatch() {
    return lock.lockBatch();
  }

  /** Drops an open batch. */
  public void abortBatch() {
    producer = published;
    lock.abortBatch();
  }

  /** Ends posting for ever; what was posted before is published when this returns. */
  public void close() {
    lock.close();
  }

  /** Ends posting for ever; for the holder of the lock, in place of {@link #unlock()}. */
  public void unlockClosed() {
    lock.unlockClosed();
  }

  /** {@return whether posting has ended} */
  public boolean isClosed() {
    return lock.isClosed();
  }

  /** {@return the offset of the slot to write next, or -1 when the ring is full; for the holder of the lock} */
  public long nextSlot() {
    return ((producer + 1) & mask) == ring.consumer() ? -1 : ring.slot(producer);
  }

  /** The slot is written; for the holder of the lock. */
  public void advance() {
    producer = (producer + 1) & mask;
  }

  /** {@return whether there are written slots that are not published; for the holder of the lock} */
  public boolean hasUnpublished() {
    return producer != published;
  }

  /** Shows all written slots to the engine; for the holder of the lock. */
  public void publish() {
    published = producer;
    ring.publishProducer(producer);
  }

  /** Forgets what was written and not published; for the holder of the lock. */
  public void rollBack() {
    producer = published;
  }

  /**
   * {@return whether a request is posted at a position}
   *
   * @param position counted from 0 and never wrapping; at most a ring's length after what was released
   */
  public boolean has(long position) {
    return ((int) position & mask) != ring.producer();
  }

  /**
   * {@return the offset of the slot of a position}
   *
   * @param position only its lower bits count
   */
  public long slot(long position) {
    return ring.slot((int) position);
  }

  /**
   * Frees the slots before a position. Engine only.
   *
   * @param position counted from 0 and never wrapping
   */
  public void release(long position) {
    ring.releaseConsumer((int) position & mask);
  }

  /** {@return requests posted and not yet released} */
  public int size() {
    return (ring.producer() - ring.consumer()) & mask;
  }
}
