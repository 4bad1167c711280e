package org.rdma4j.mlx5.ib;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets one thread at a time to a queue: one compare-and-set when nobody else is there, and nothing allocated (kernel:
 * the spin locks of queue pairs and completion queues). Once closed nobody enters any more; who is inside finishes
 * first, but a batch that its owner keeps open is taken away from him, so that closing never waits for a sleeper.
 */
final class Gate {
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int BATCH = 2;
  private static final int CLOSED = 3;
  private static final int SPINS = 64;
  private static final long PAUSE_NANOS = 1_000;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Gate.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // Through STATE.
  private volatile int state;

  /** Enters for a moment; false when closed. */
  boolean lock() {
    return enter(HELD);
  }

  void unlock() {
    STATE.setRelease(this, FREE);
  }

  /** Enters for as long as the owner of a batch likes; false when closed. */
  boolean openBatch() {
    return enter(BATCH);
  }

  /** Goes on from an open batch to a short hold; false when it was taken away. */
  boolean lockBatch() {
    return STATE.compareAndSet(this, BATCH, HELD);
  }

  /** Goes back from a short hold to the open batch. */
  void keepBatch() {
    STATE.setRelease(this, BATCH);
  }

  /** Lets nobody in any more. */
  void close() {
    int spins = 0;
    while (true) {
      int now = state;
      if (now == CLOSED || (now != HELD && STATE.compareAndSet(this, now, CLOSED))) {
        return;
      }
      spins = pause(spins);
    }
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
