package org.rdma4j.provider.contract.suite;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A bound for waiting. Only time in which this thread was really waiting counts, so that a process that was stopped for
 * a while does not find all its patience used up.
 */
final class Patience {
  /** How long anything may take that should take milliseconds. */
  static final long NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final int SPINS = 200;

  private final long limit;
  private long used;
  private long last = System.nanoTime();
  private int spins;

  Patience() {
    this(NANOS);
  }

  Patience(long nanos) {
    this.limit = nanos;
  }

  /** Waits a moment; false where the patience is used up. */
  boolean waits() {
    if (Thread.currentThread().isInterrupted()) {
      throw new Broken("interrupted");
    }
    long now = System.nanoTime();
    used += Math.min(now - last, STEP_NANOS);
    last = now;
    if (used >= limit) {
      return false;
    }
    if (spins++ < SPINS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(PARK_NANOS);
    }
    return true;
  }
}
