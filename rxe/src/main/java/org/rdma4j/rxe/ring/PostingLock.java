package org.rdma4j.rxe.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps posters of one ring apart: one compare-and-set when nobody else posts, and nothing allocated. Once closed
 * nobody enters any more; who is inside a post at that moment finishes it first, while a batch that its owner keeps
 * open is taken away from him, so that closing never waits for somebody who has gone to sleep.
 */
final class PostingLock {
  private static final int FREE = 0;
  private static final int POSTING = 1;
  private static final int BATCH = 2;
  private static final int CLOSED = 3;

  /** Looks this often before letting other threads run, for the holder may be one that does not run. */
  private static final int SPINS = 64;
  private static final long PAUSE_NANOS = 1_000;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(PostingLock.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // Through STATE.
  private volatile int state;

  /** Enters for one short post; false when closed. */
  boolean lock() {
    return enter(POSTING);
  }

  void unlock() {
    STATE.setRelease(this, FREE);
  }

  /** Enters for as long as the owner of a batch likes; false when closed. */
  boolean openBatch() {
    return enter(BATCH);
  }

  /** Goes on from an open batch to its post; false when it was taken away by {@link #close()}. */
  boolean lockBatch() {
    return STATE.compareAndSet(this, BATCH, POSTING);
  }

  /** Gives an open batch up. */
  void abortBatch() {
    STATE.compareAndSet(this, BATCH, FREE);
  }

  /** Lets nobody in any more; whatever was posted before is published when this returns. */
  void close() {
    int spins = 0;
    while (true) {
      int now = state;
      if (now == CLOSED || (now != POSTING && STATE.compareAndSet(this, now, CLOSED))) {
        return;
      }
      spins = pause(spins);
    }
  }

  /** Ends posting for the holder of the lock. */
  void unlockClosed() {
    STATE.setRelease(this, CLOSED);
  }

  boolean isClosed() {
    return state == CLOSED;
  }

  private boolean enter(int next) {
    int spins = 0;
    while (true) {
      if (STATE.compareAndSet(this, FREE, next)) {
        return true;
      }
      if (state == CLOSED) {
        return false;
      }
      spins = pause(spins);
    }
  }

  private static int pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
      return spins + 1;
    }
    LockSupport.parkNanos(PAUSE_NANOS);
    return spins;
  }
}
