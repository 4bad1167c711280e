package org.rdma4j.roce.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.roce.link.Clock;

/**
 * The thread of an engine. When there is nothing to do it polls for a while, then sleeps in the link until a packet,
 * a doorbell or a timer (stop protocol: ask, wake, wait a bounded time, report what still runs).
 */
public final class EngineRunner implements AutoCloseable {
  private static final long LONGEST_SLEEP_NANOS = 100_000_000;

  /** Between duty cycles that fail one after the other, so that they do not take a processor. */
  private static final long FAILURE_PAUSE_NANOS = 1_000_000;

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

  private final Engine engine;
  private final Clock clock;
  private final EngineFaultHandler faults;
  private final long spinNanos;
  private final Thread thread;
  private volatile boolean stopping;
  private int failures; // one after the other

  /**
   * Starts the thread, which drives the engine from now on.
   *
   * @param engine engine that nobody drives yet
   * @param name name of the thread
   * @param clock the engine's clock
   * @param spinNanos how long to poll without work before sleeping, 0 sleeps at once
   * @param faults is told of exceptions outside of queue pairs, of the first where several come one after the other
   * @throws IllegalStateException when the engine has a thread already
   */
  public EngineRunner(
      Engine engine, String name, Clock clock, long spinNanos, EngineFaultHandler faults) {
    this.engine = engine;
    this.clock = clock;
    this.faults = faults;
    this.spinNanos = spinNanos;
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
    engine.own(thread); // Before it runs, so that no command runs anywhere else.
    thread.start();
  }

  private void run() {
    try {
      long idleSince = clock.nanoTime();
      while (!stopping) {
        int work = step();
        if (work > 0) {
          idleSince = clock.nanoTime();
        } else if (clock.nanoTime() - idleSince < spinNanos) {
          giveWay();
        } else {
          sleep();
        }
        if (failures > 1) {
          LockSupport.parkNanos(this, FAILURE_PAUSE_NANOS);
        }
      }
    } finally {
      engine.disown();
    }
  }

  /** Lets a user run who is to poll or post, where there are fewer processors than threads. */
  @SuppressWarnings("ThreadPriorityCheck") // Nothing relies on it: a yield that does nothing is a spin.
  private static void giveWay() {
    Thread.yield();
  }

  private int step() {
    try {
      int work = engine.doWork();
      failures = 0;
      return work;
    } catch (RuntimeException | Error e) {
      failed("duty cycle", e);
      return 0;
    }
  }

  private void sleep() {
    try {
      engine.link().await(sleepNanos());
    } catch (RuntimeException | Error e) {
      failed("wait", e);
    }
  }

  /** Nothing ends the thread but {@link #close}: not even what the one throws who is told. */
  private void failed(String where, Throwable cause) {
    engine.counters().increment(EngineCounter.FAULTS);
    failures++;
    if (failures == 1) {
      try {
        faults.onFault(where, cause);
      } catch (RuntimeException | Error e) {
        engine.counters().increment(EngineCounter.FAULTS);
      }
    }
  }

  private long sleepNanos() {
    if (engine.hasReady()) {
      return 0;
    }
    long deadline = engine.nextDeadline();
    if (deadline == Long.MAX_VALUE) {
      return LONGEST_SLEEP_NANOS;
    }
    return Math.clamp(deadline - clock.nanoTime(), 0, LONGEST_SLEEP_NANOS);
  }

  /**
   * Stops the thread; idempotent. Commands given meanwhile are carried out.
   *
   * @throws IllegalStateException when the thread does not end within 10 s
   */
  @Override
  public void close() {
    stopping = true;
    engine.link().wakeup();
    boolean interrupted = false;
    while (thread.isAlive() && Thread.currentThread() != thread) {
      try {
        if (!thread.join(STOP_TIMEOUT)) {
          throw new IllegalStateException("thread " + thread.getName() + " does not stop: it is in " + where());
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private String where() {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length == 0 ? "no frame" : stack[0].toString();
  }
}
