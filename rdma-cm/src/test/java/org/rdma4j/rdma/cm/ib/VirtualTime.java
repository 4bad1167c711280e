package org.rdma4j.rdma.cm.ib;

import java.util.Comparator;
import java.util.PriorityQueue;

/** A thread and a clock that exist only here: work runs when its time comes, in the order in which it was given. */
final class VirtualTime implements CmTimer {
  private record Planned(long at, long order, Runnable work) {}

  private final PriorityQueue<Planned> plan =
      new PriorityQueue<>(Comparator.comparingLong(Planned::at).thenComparingLong(Planned::order));
  private long now;
  private long given;
  private boolean running;

  @Override
  public void execute(Runnable work) {
    schedule(work, 0);
  }

  @Override
  public void schedule(Runnable work, long milliseconds) {
    plan.add(new Planned(now + milliseconds, given++, work));
  }

  @Override
  public boolean isCurrent() {
    return running;
  }

  long now() {
    return now;
  }

  /** Runs what is to be done until a time, and lets the clock show it. */
  void runUntil(long time) {
    while (!plan.isEmpty() && plan.peek().at() <= time) {
      step();
    }
    now = Math.max(now, time);
  }

  /** Runs all that is to be done, however late; how many pieces of work there were. */
  int runAll(int most) {
    int done = 0;
    while (!plan.isEmpty()) {
      step();
      if (++done > most) {
        throw new AssertionError("still work after " + most + " pieces of it");
      }
    }
    return done;
  }

  private void step() {
    Planned next = plan.remove();
    now = next.at();
    running = true;
    try {
      next.work().run();
    } finally {
      running = false;
    }
  }
}
