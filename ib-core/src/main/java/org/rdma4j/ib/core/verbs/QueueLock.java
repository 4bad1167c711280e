package org.rdma4j.ib.core.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * For providers: lets one thread at a time to a queue, such as the posters of a send queue or the pollers of a
 * completion queue; one compare-and-set when nobody else is there, and nothing allocated. Once closed nobody enters any
 * more; who is inside for a short hold at that moment finishes first, while a batch that its owner keeps open is taken
 * away from him, so that closing never waits for somebody who has gone to sleep.
 *
 * <p>Kernel: the spin locks of queues, such as {@code sq.lock} of {@code struct rxe_qp} and {@code struct mlx5_ib_qp}.
 * Safe for any thread; not reentrant.
 */
public final class QueueLock {
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int BATCH = 2;
  private static final int CLOSED = 3;

  /** Looks this often before letting other threads run, for the holder may be one that does not run. */
  private static final int SPINS = 64;
  private static final long PAUSE_NANOS = 1_000;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(QueueLock.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // Through STATE.
  private volatile int state;

  /** Makes a lock that nobody holds. */
  public QueueLock() {}

  /**
   * Enters for a short hold; waits for who is inside.
   *
   * @return false when closed: nothing is held then
   */
  public boolean lock() {
    return enter(HELD);
  }

  /** Ends the short hold; only for who holds it. */
  public void unlock() {
    STATE.setRelease(this, FREE);
  }

  /**
   * Enters for as long as the owner of a batch likes; waits for who is inside.
   *
   * @return false when closed: no batch is open then
   */
  public boolean openBatch() {
    return enter(BATCH);
  }

  /**
   * Goes on from an open batch to a short hold.
   *
   * @return false when the batch was taken away by {@link #close()}: nothing is held then
   */
  public boolean lockBatch() {
    return STATE.compareAndSet(this, BATCH, HELD);
  }

  /** Goes back from a short hold to the open batch; only for who holds it. */
  public void keepBatch() {
    STATE.setRelease(this, BATCH);
  }

  /** Gives an open batch up; does nothing where it was taken away. */
  public void abortBatch() {
    STATE.compareAndSet(this, BATCH, FREE);
  }

  /** Lets nobody in any more; waits for a short hold to end. What was done under it is seen when this returns. */
  public void close() {
    int spins = 0;
    while (true) {
      int now = state;
      if (now == CLOSED || (now != HELD && STATE.compareAndSet(this, now, CLOSED))) {
        return;
      }
      spins = pause(spins);
    }
  }

  /** Ends the short hold and lets nobody in any more; only for who holds it. */
  public void unlockClosed() {
    STATE.setRelease(this, CLOSED);
  }

  /** {@return whether nobody can enter any more} */
  public boolean isClosed() {
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
