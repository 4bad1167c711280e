package org.rdma4j.roce.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Runs simulations, one seed after the other on several threads at once, until all are done or one fails. The failure
 * reported is that of the lowest seed that fails, whatever the number of threads, and is the same each time.
 *
 * <p>Not thread-safe; the call runs threads of its own and has ended them when it returns.
 */
public final class SimulationRunner {
  private static final int TRACE_LINES = 1;
  private static final int ALL_LINES = 1 << 17;

  private final int threads;
  private final LongConsumer progress;
  private final Consumer<Simulation> preparation;

  /**
   * What came of it.
   *
   * @param seeds how many were played
   * @param tally sums over those that did not fail
   * @param failure the failure of the lowest seed that failed, or null
   */
  public record Result(long seeds, Tally tally, FailedSimulation failure) {}

  /**
   * Makes one.
   *
   * @param threads how many run at once, 1 or more
   * @param progress is told how many seeds are done, after each one, by any thread
   * @throws IllegalArgumentException when there is no thread
   */
  public SimulationRunner(int threads, LongConsumer progress) {
    this(threads, progress, simulation -> {});
  }

  /** With something that is done to each simulation before it is played. */
  SimulationRunner(int threads, LongConsumer progress, Consumer<Simulation> preparation) {
    if (threads < 1) {
      throw new IllegalArgumentException("simulations on " + threads + " threads, 1 or more are needed");
    }
    this.threads = threads;
    this.progress = progress;
    this.preparation = preparation;
  }

  /**
   * Plays seeds.
   *
   * @param first first seed
   * @param count how many, 1 or more
   * @return what came of it
   * @throws InterruptedException when the calling thread was interrupted; the threads have ended
   */
  public Result run(long first, long count) throws InterruptedException {
    var run = new Run(first, count);
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < Math.min(threads, count); i++) {
      workers.add(new Worker(run));
    }
    List<Thread> started = new ArrayList<>();
    for (Worker worker : workers) {
      started.add(Thread.ofPlatform().name("simulation-" + started.size()).daemon().start(worker));
    }
    join(started, run);
    var tally = new Tally();
    workers.forEach(worker -> tally.add(worker.tally));
    FailedSimulation failure =
        run.firstFailure.get() == Long.MAX_VALUE
            ? null
            : new Reducer(first + run.firstFailure.get(), new Simulation.Memory(), preparation).reduce();
    return new Result(run.done.get(), tally, failure);
  }

  private static void join(List<Thread> threads, Run run) throws InterruptedException {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
          run.next.set(run.count);
        }
      }
    }
    if (interrupted) {
      throw new InterruptedException();
    }
  }

  /**
   * Plays one seed and tells all that happened, a line for each request, packet, fault and completion.
   *
   * @param seed the seed
   * @return the trace; a failure, as it comes without anything left out, is in its end
   */
  public String trace(long seed) {
    var simulation = new Simulation(seed, new Simulation.Memory(), Parts.all(), ALL_LINES, true);
    preparation.accept(simulation);
    try {
      simulation.run();
      return simulation.report();
    } catch (AssertionError | RuntimeException e) {
      return simulation.report() + "  " + e.getMessage() + "\n";
    }
  }

  /** Seeds that are handed out in order, so that all before a failing one are played too. */
  private static final class Run {
    final long first;
    final long count;
    final AtomicLong next = new AtomicLong();
    final AtomicLong done = new AtomicLong();
    final AtomicLong firstFailure = new AtomicLong(Long.MAX_VALUE);

    Run(long first, long count) {
      this.first = first;
      this.count = count;
    }

    /** Number of the next one, or -1 when there is none. */
    long take() {
      long number = next.getAndIncrement();
      return number < count && number < firstFailure.get() ? number : -1;
    }
  }

  private final class Worker implements Runnable {
    final Tally tally = new Tally();
    private final Run run;
    private final Simulation.Memory memory = new Simulation.Memory();

    Worker(Run run) {
      this.run = run;
    }

    @Override
    public void run() {
      for (long number = run.take(); number >= 0; number = run.take()) {
        var simulation = new Simulation(run.first + number, memory, Parts.all(), TRACE_LINES, false);
        preparation.accept(simulation);
        try {
          simulation.run();
          tally.add(simulation.tally());
        } catch (AssertionError | RuntimeException e) {
          run.firstFailure.accumulateAndGet(number, Math::min);
        }
        progress.accept(run.done.incrementAndGet());
      }
    }
  }
}
