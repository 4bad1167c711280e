package org.rdma4j.ib.core.verbs;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the hooks that end a device's objects, one after the other on a thread of their own, and waits for each within
 * bounds: one that does not return is named in the log with its stack, later it is left behind with its thread, and the
 * next runs on another. So a provider that hangs ends what can be ended, in the same order, and hangs nobody else.
 * Hooks of a kind of which several were left behind are not called any more. Safe for any thread.
 */
final class ProviderHooks {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderHooks.class);

  /** So many hooks of a kind may hang before the rest of that kind is not called any more. */
  private static final int HANGING_OF_A_KIND = 4;

  /** The provider has hung before: how long the next hooks may take. */
  private static final long AFTERWARDS_MILLIS = 1_000;

  /**
   * A hook.
   *
   * @param kind what hooks are alike, for the log
   * @param subject what it is about, for the log
   * @param hook the hook with what the core does around it; what it throws is logged
   * @param abandon what the core does where the hook is left behind or not called
   */
  record Step(String kind, Object subject, Runnable hook, Runnable abandon) {
    @Override
    public String toString() {
      return kind + " " + subject;
    }
  }

  private final Map<String, Integer> hanging = new HashMap<>(); // guarded by itself
  private volatile long warnMillis = 5_000;
  private volatile long limitMillis = 30_000;

  /** Sets the bounds of hooks that begin from now on. */
  void patience(long newWarnMillis, long newLimitMillis) {
    this.warnMillis = newWarnMillis;
    this.limitMillis = newLimitMillis;
  }

  /** Runs all steps; returns when each has returned or is left behind. */
  void run(String device, List<Step> steps) {
    int next = 0;
    boolean interrupted = false;
    while (next < steps.size()) {
      Worker worker = new Worker(steps, next);
      Thread thread = Thread.ofPlatform().daemon().name("ib-core ends " + device).unstarted(worker);
      thread.start();
      interrupted |= await(worker, thread);
      next = worker.next();
      if (next == steps.size() && !worker.wasLeft()) {
        interrupted |= awaitEnd(thread);
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isGivenUp(Step step) {
    synchronized (hanging) {
      return hanging.getOrDefault(step.kind(), 0) >= HANGING_OF_A_KIND;
    }
  }

  private boolean hasHung() {
    synchronized (hanging) {
      return !hanging.isEmpty();
    }
  }

  /** Waits until the worker has ended or one of its steps is left behind; true where interrupted meanwhile. */
  private boolean await(Worker worker, Thread thread) {
    boolean interrupted = false;
    int warned = -1;
    while (!worker.isOver()) {
      long limit = hasHung() ? Math.min(AFTERWARDS_MILLIS, limitMillis) : limitMillis;
      long warn = Math.min(warnMillis, limit);
      int at = worker.current();
      long left = Duration.ofMillis(at == warned ? limit : warn).toNanos() - worker.nanosInside();
      if (left > 0) {
        interrupted |= worker.awaitChange(at, left);
      } else if (at != warned) {
        warned = at;
        LOG.warn("{} does not return; after {} ms its provider is at:\n{}", worker.step(at), warn, stack(thread));
      } else if (worker.leave(at)) {
        LOG.warn("{} is left behind after {} ms", worker.step(at), limit);
        synchronized (hanging) {
          hanging.merge(worker.step(at).kind(), 1, Integer::sum);
        }
        worker.step(at).abandon().run();
      }
    }
    return interrupted;
  }

  /** The thread has nothing to do any more: so that it is not there when this returns. */
  private static boolean awaitEnd(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        return interrupted;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
  }

  private static String stack(Thread thread) {
    return Arrays.stream(thread.getStackTrace()).map(each -> "    at " + each).collect(Collectors.joining("\n"));
  }

  /** Goes through the steps until the end or until it is left behind in one. */
  private final class Worker implements Runnable {
    private final List<Step> steps;
    private int current; // this and the following: guarded by this
    private long since = System.nanoTime();
    private boolean over;
    private boolean left;

    Worker(List<Step> steps, int first) {
      this.steps = steps;
      this.current = first;
    }

    Step step(int index) {
      return steps.get(index);
    }

    @Override
    public void run() {
      int index = current();
      do {
        Step step = steps.get(index);
        boolean givenUp = isGivenUp(step);
        try {
          (givenUp ? step.abandon() : step.hook()).run();
        } catch (RuntimeException | Error e) {
          LOG.error("{} failed in its provider", step, e);
        }
        if (givenUp) {
          LOG.debug("{} was not tried: too many hang", step);
        }
        index++;
      } while (advance(index));
    }

    /** The step before is done; false where there is none any more or the thread was left behind. */
    private synchronized boolean advance(int index) {
      if (over) {
        return false;
      }
      current = index;
      since = System.nanoTime();
      over = index == steps.size();
      notifyAll();
      return !over;
    }

    /** Leaves the thread behind if it is still in that step. */
    synchronized boolean leave(int index) {
      if (over || current != index) {
        return false;
      }
      over = true;
      left = true;
      current = index + 1;
      return true;
    }

    synchronized boolean isOver() {
      return over;
    }

    synchronized boolean wasLeft() {
      return left;
    }

    synchronized int current() {
      return current;
    }

    /** Where the next worker goes on. */
    synchronized int next() {
      return current;
    }

    synchronized long nanosInside() {
      return System.nanoTime() - since;
    }

    /** Waits until another step runs or the time is over; true where interrupted. */
    synchronized boolean awaitChange(int index, long nanos) {
      long deadline = System.nanoTime() + nanos;
      try {
        for (long left = nanos; !over && current == index && left > 0; left = deadline - System.nanoTime()) {
          TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return false;
      } catch (InterruptedException e) {
        return true;
      }
    }
  }
}
