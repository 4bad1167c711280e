package org.rdma4j.roce.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.roce.link.Clock;

/**
 * The thread of an engine. When there is nothing to do it polls, or sleeps in the link until a packet, a doorbell or a
 * timer, as its {@link IdleStrategy} says (stop protocol: ask, wake, wait a bounded time, report what still runs).
 *
 * <p>It has the turn all the time, also asleep, until a user polls without end and offers to {@link #help}: then it
 * lends the turn and stands aside. So a packet for a user who polls is taken by the thread that waits for it, and what
 * he posts leaves at once; nobody else has to run first, which decides about the latency where there are fewer
 * processors than threads. The thread looks whether he still polls, first after 50 us, later every 4 ms, and
 * takes the turn back when he does not: so long at most do packets, timers and what others posted have to wait.
 * Whoever goes to sleep after helping calls it back at once ({@link #recall}).
 */
public final class EngineRunner implements AutoCloseable {
  private static final long LONGEST_SLEEP_NANOS = 100_000_000;

  /** Between duty cycles that fail one after the other, so that they do not take a processor. */
  private static final long FAILURE_PAUSE_NANOS = 1_000_000;

  /** How long it stands aside before it looks again: a part of the time that the user has been polling. */
  private static final int ASIDE_SHARE = 16;

  private static final long SHORTEST_ASIDE_NANOS = 50_000;
  private static final long LONGEST_ASIDE_NANOS = 4_000_000;
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

  private final Engine engine;
  private final Turn turn;
  private final Clock clock;
  private final boolean spins;
  private final long pollNanos;
  private final Thread thread;
  private volatile boolean stopping;

  /** A user wants the turn. */
  private volatile boolean wanted;

  /** Duty cycles of users who poll; only who has the turn writes. */
  private volatile long helped;

  /**
   * Starts the thread, which drives the engine from now on.
   *
   * @param engine engine that nobody drives yet
   * @param name name of the thread
   * @param clock the engine's clock
   * @param idle what to do without work
   * @throws IllegalStateException when the engine has a thread already
   */
  public EngineRunner(Engine engine, String name, Clock clock, IdleStrategy idle) {
    this.engine = engine;
    this.turn = engine.turn();
    this.clock = clock;
    this.spins = idle.mode() == IdleStrategy.Mode.SPIN;
    this.pollNanos = idle.mode() == IdleStrategy.Mode.BACK_OFF ? idle.polling().toNanos() : 0;
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
    engine.own(thread); // Before it runs, so that no command runs anywhere else.
    thread.start();
  }

  private void run() {
    try {
      takeTurn();
      long idleSince = clock.nanoTime();
      while (!stopping) {
        if (wanted) {
          standAside();
        }
        int work = engine.cycle();
        if (work > 0) {
          idleSince = clock.nanoTime();
          if (engine.acknowledgesLater()) {
            giveWay();
          }
        } else if (spins) {
          Thread.onSpinWait();
        } else if (clock.nanoTime() - idleSince < pollNanos) {
          giveWay();
        } else {
          sleep();
        }
        if (engine.keepsFailing()) {
          LockSupport.parkNanos(this, FAILURE_PAUSE_NANOS);
        }
      }
    } finally {
      engine.disown(); // And keeps the turn for ever: nobody helps an engine that has stopped.
    }
  }

  /** Lets a user run who is to poll or post, where there are fewer processors than threads. */
  @SuppressWarnings("ThreadPriorityCheck") // Nothing relies on it: a yield that does nothing is a spin.
  private static void giveWay() {
    Thread.yield();
  }

  /** Waits for the end of a user's duty cycle. */
  private void takeTurn() {
    turn.recall();
    while (!turn.take()) {
      giveWay();
    }
    wanted = false;
  }

  /** Lends the turn for as long as users make use of it. */
  private void standAside() {
    turn.lend();
    // Who asked before he could see that the turn is lent has woken this thread and waits for it.
    if (engine.isAsked() || stopping) {
      turn.recall();
      return;
    }
    turn.give();
    long since = System.nanoTime();
    long before;
    do {
      before = helped;
      long polled = System.nanoTime() - since;
      LockSupport.parkNanos(this, Math.clamp(polled / ASIDE_SHARE, SHORTEST_ASIDE_NANOS, LONGEST_ASIDE_NANOS));
    } while (turn.isLent() && !stopping && helped != before);
    takeTurn();
  }

  /**
   * Runs a duty cycle on the calling thread, which polls and finds nothing; or asks for the turn, when the engine's
   * thread has it. Any thread; in a callback of the engine it does nothing. Returns at once when the engine has
   * stopped, another thread drives it, or its own one spins; neither waits nor allocates. What the engine does in the
   * duty cycle runs on the caller's stack: hosts must not call users from theirs.
   *
   * @param now the time of the engine's clock, which the caller has just read
   * @return whether something was done, which takes time
   */
  public boolean help(long now) {
    if (turn.isLent()) {
      return helpNow(now);
    }
    if (!wanted && !spins && !stopping && engine.link().mayBeLent()) {
      wanted = true;
      engine.link().wakeup();
    }
    return false;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Whoever writes has the turn.
  private boolean helpNow(long now) {
    if (!engine.borrow()) {
      return false;
    }
    try {
      helped++;
      return engine.cycleForPoller(now) > 0;
    } finally {
      turn.give();
    }
  }

  /** Calls the thread back at once, because who has helped is about to sleep. Any thread. */
  public void recall() {
    if (turn.isLent()) {
      turn.recall();
      LockSupport.unpark(thread);
    }
  }

  /** {@return duty cycles that users who poll have run; any thread} */
  public long helped() {
    return helped;
  }

  private void sleep() {
    try {
      engine.link().await(sleepNanos());
    } catch (RuntimeException | Error e) {
      engine.failed("wait", e);
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
    LockSupport.unpark(thread);
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
