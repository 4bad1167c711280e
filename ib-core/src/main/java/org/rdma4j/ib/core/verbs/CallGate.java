package org.rdma4j.ib.core.verbs;

import java.util.concurrent.TimeUnit;

/**
 * Counts the calls that are inside a device's provider; once closed nobody enters, and the closer can wait until the
 * last one has left (what SRCU and the disassociation lock do for {@code uverbs}).
 */
final class CallGate {
  private int inside;
  private volatile boolean closed;

  synchronized boolean tryEnter() {
    if (closed) {
      return false;
    }
    inside++;
    return true;
  }

  synchronized void exit() {
    inside--;
    if (inside == 0) {
      notifyAll();
    }
  }

  boolean isClosed() {
    return closed;
  }

  synchronized void close() {
    closed = true;
  }

  /** Waits until all have left; false where the time was over before. */
  synchronized boolean awaitEmpty(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (inside > 0) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }
}
