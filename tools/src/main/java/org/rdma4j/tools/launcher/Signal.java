package org.rdma4j.tools.launcher;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Lets one thread wait until something is true that events announce. Thread safe. */
final class Signal {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition raised = lock.newCondition();
  private long count;

  /** Something happened: whoever waits looks again. */
  void raise() {
    lock.lock();
    try {
      count++;
      raised.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the condition holds. It is looked at outside the lock, now and after every event.
   *
   * @param deadline as {@link System#nanoTime()}
   * @return whether it held before the deadline
   */
  boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
    while (true) {
      long seen = count();
      if (condition.getAsBoolean()) {
        return true;
      }
      if (!awaitChange(seen, deadline)) {
        return condition.getAsBoolean();
      }
    }
  }

  private long count() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  private boolean awaitChange(long seen, long deadline) throws InterruptedException {
    lock.lock();
    try {
      while (count == seen) {
        if (raised.awaitNanos(deadline - System.nanoTime()) <= 0) {
          return false;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
