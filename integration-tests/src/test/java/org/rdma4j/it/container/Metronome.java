package org.rdma4j.it.container;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A thread that only wants to run every few milliseconds, to tell what a machine with other things to do lets it. */
final class Metronome implements AutoCloseable {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Thread thread = Thread.ofPlatform().daemon().name("metronome").unstarted(this::run);
  private volatile long longestNanos;
  private volatile boolean stopping;

  Metronome() {
    thread.start();
  }

  /** The longest time so far in which it should have run and did not. */
  long longestPauseMillis() {
    return TimeUnit.NANOSECONDS.toMillis(longestNanos);
  }

  private void run() {
    long last = System.nanoTime();
    while (!stopping) {
      LockSupport.parkNanos(this, TICK_NANOS);
      long now = System.nanoTime();
      longestNanos = Math.max(longestNanos, now - last);
      last = now;
    }
  }

  @Override
  public void close() {
    stopping = true;
  }
}
