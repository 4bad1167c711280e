package org.rdma4j.roce.engine;

import java.util.Map;
import java.util.TreeMap;

/**
 * Simulations from the command line: {@code SimulationMain [--seed N] [--first N] [--seeds N] [--all]}. Stops at the
 * first failure unless all are wanted; the exit status is 0 when there was none.
 */
public final class SimulationMain {
  private SimulationMain() {}

  /**
   * Runs the simulations.
   *
   * @param args options
   */
  public static void main(String[] args) {
    long first = 1;
    long count = 10_000;
    boolean all = false;
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--seed" -> {
          first = Long.parseLong(args[++i]);
          count = 1;
        }
        case "--first" -> first = Long.parseLong(args[++i]);
        case "--seeds" -> count = Long.parseLong(args[++i]);
        case "--all" -> all = true;
        default -> {
          System.err.println("usage: SimulationMain [--seed N] [--first N] [--seeds N] [--all]");
          System.exit(2);
        }
      }
    }
    System.exit(run(first, count, all) == 0 ? 0 : 1);
  }

  private static int run(long first, long count, boolean all) {
    Map<String, Long> totals = new TreeMap<>();
    var memory = new Simulation.Memory();
    int failures = 0;
    long begin = System.nanoTime();
    long done = 0;
    for (long seed = first; seed < first + count && (all || failures == 0); seed++) {
      var simulation = new Simulation(seed, memory);
      try {
        simulation.run();
      } catch (AssertionError e) {
        failures++;
        System.err.println(e.getMessage());
      }
      simulation.addTo(totals);
      done++;
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf("%d simulations in %.1f s, %d failed%n", done, seconds, failures);
    totals.forEach((name, total) -> System.out.printf("%,15d %s%n", total, name));
    return failures;
  }
}
