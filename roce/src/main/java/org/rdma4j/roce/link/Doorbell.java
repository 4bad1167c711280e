package org.rdma4j.roce.link;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides whether a wake-up needs a system call. No wake-up is lost: one that comes while nobody waits is remembered
 * and ends the next wait.
 *
 * <p>The waiter goes RUNNING → WAITING → RUNNING; anyone else moves either to SIGNALLED. Whoever moves WAITING to
 * SIGNALLED, one thread per wait, does the expensive wake-up.
 */
final class Doorbell {
  private static final int RUNNING = 0;
  private static final int WAITING = 1;
  private static final int SIGNALLED = 2;
  private static final int CLOSED = 3;
  private static final long PAUSE_NANOS = 1_000;

  private static final VarHandle STATE;
  private static final VarHandle RINGERS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Doorbell.class, "state", int.class);
      RINGERS = lookup.findVarHandle(Doorbell.class, "ringers", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Runnable wake;

  private volatile int state = RUNNING;

  /** Threads that are about to call or in {@link #wake}, which must not outlive {@link #close}. */
  private volatile int ringers;

  Doorbell(Runnable wake) {
    this.wake = wake;
  }

  /** The waiter says that it is about to wait; false when it must not, because of a wake-up or the end. */
  boolean beginWait() {
    if (STATE.compareAndSet(this, RUNNING, WAITING)) {
      return true;
    }
    endWait();
    return false;
  }

  /** The waiter says that it runs again; forgets a wake-up, since whatever it stood for is looked at after this. */
  void endWait() {
    int seen = state;
    while (seen != CLOSED && !STATE.compareAndSet(this, seen, RUNNING)) {
      seen = state;
    }
  }

  /** Wakes the waiter, now or at its next wait; any thread. */
  void ring() {
    // What the caller published before must be visible before the state is read: else a waiter that has just taken
    // SIGNALLED back could miss it and wait.
    VarHandle.fullFence();
    while (!tryRing()) {
      Thread.onSpinWait();
    }
  }

  /** False when the waiter went to or came back from a wait meanwhile. */
  private boolean tryRing() {
    return switch (state) {
      case RUNNING -> STATE.compareAndSet(this, RUNNING, SIGNALLED);
      case WAITING -> ringWaiter();
      default -> true;
    };
  }

  private boolean ringWaiter() {
    RINGERS.getAndAdd(this, 1);
    try {
      boolean mine = STATE.compareAndSet(this, WAITING, SIGNALLED);
      if (mine) {
        wake.run();
      }
      return mine;
    } finally {
      RINGERS.getAndAdd(this, -1);
    }
  }

  /** Ends all ringing; when this returns nobody is or comes into the wake-up action. */
  void close() {
    state = CLOSED;
    while (ringers != 0) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
