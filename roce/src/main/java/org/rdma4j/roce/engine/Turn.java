package org.rdma4j.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whose turn it is to drive an engine: at most one thread at a time has it, and what one did the next one sees. The
 * engine's thread has it, also asleep, but may lend it: then whoever wants runs a duty cycle. It is no lock: nobody
 * waits for it on the data path, who does not get it leaves the work to the one who has it.
 */
final class Turn {
  private static final VarHandle HOLDER;

  static {
    try {
      HOLDER = MethodHandles.lookup().findVarHandle(Turn.class, "holder", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile Thread holder;
  private volatile boolean lent;

  /** The engine's thread: takes the turn; false when another is in a duty cycle. */
  boolean take() {
    return holder == null && HOLDER.compareAndSet(this, null, Thread.currentThread());
  }

  /** The engine's thread, which has the turn: others may borrow it from the next {@link #give} on. */
  void lend() {
    lent = true;
  }

  /** Any thread: nobody borrows the turn any more; who has it keeps it to the end of his duty cycle. */
  void recall() {
    lent = false;
  }

  /** Whether the turn may be borrowed. */
  boolean isLent() {
    return lent;
  }

  /** Any thread: takes the turn for one duty cycle; false when it is not lent or another has it. */
  boolean borrow() {
    if (!lent || !take()) {
      return false;
    }
    if (lent) {
      return true;
    }
    give();
    return false;
  }

  /** Gives the turn back; only who has it. */
  void give() {
    holder = null;
  }

  /** Whether the calling thread has the turn. */
  boolean isMine() {
    return holder == Thread.currentThread();
  }
}
