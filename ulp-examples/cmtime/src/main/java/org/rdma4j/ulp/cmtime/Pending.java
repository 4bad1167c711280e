package org.rdma4j.ulp.cmtime;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How many connections have not done their step. Safe for any thread. */
final class Pending {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private int count; // guarded by lock

  void begun() {
    lock.lock();
    count++;
    lock.unlock();
  }

  void ended() {
    lock.lock();
    try {
      if (--count == 0) {
        none.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is none. */
  void await() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (count > 0) {
        none.await();
      }
    } finally {
      lock.unlock();
    }
  }
}
