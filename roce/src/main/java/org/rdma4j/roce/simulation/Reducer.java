package org.rdma4j.roce.simulation;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Makes a failing simulation small by delta debugging (Zeller and Hildebrandt, 2002): leaves out pairs, trouble, work
 * requests and faults of the network, in pieces that get smaller, as long as the same check fails. Repeatable, since
 * nothing depends on time.
 */
final class Reducer {
  private static final int MAX_RUNS = 3000;
  private static final int TRACE_LINES = 400;
  /** A request has mostly no more packets than this. */
  private static final int MAX_SHIFT = 6;

  private final long seed;
  private final Simulation.Memory memory;
  private final Consumer<Simulation> preparation;
  private String kind;
  private Set<Part> needed;
  private int maxSteps;
  private int runs;

  /** For a seed that fails; the preparation is done to each simulation before it is played. */
  Reducer(long seed, Simulation.Memory memory, Consumer<Simulation> preparation) {
    this.seed = seed;
    this.memory = memory;
    this.preparation = preparation;
  }

  /**
   * Finds the small failure.
   *
   * @return it, or null when the seed does not fail
   */
  FailedSimulation reduce() {
    Simulation whole = simulation(Parts.all(), false);
    Throwable failure = play(whole);
    if (failure == null) {
      return null;
    }
    FailedSimulation.Size before = size(whole.parts());
    kind = kindOf(failure);
    needed = whole.parts();
    maxSteps = 4 * whole.steps() + 10_000;
    for (long left = Long.MAX_VALUE; needed.size() < left && runs < MAX_RUNS; ) {
      left = needed.size();
      for (Part.Kind each : Part.Kind.values()) {
        reduce(each);
      }
      if (needed.size() == left) {
        reduceShifted();
      }
    }
    Simulation small = simulation(Parts.only(needed), true);
    Throwable same = play(small);
    String end = same == null ? "  not repeated\n" : "  " + same.getMessage() + "\n";
    return new FailedSimulation(
        seed, String.valueOf(failure.getMessage()), before, size(needed), runs, small.report() + end);
  }

  /** Tries without a part of all of a kind, and without smaller parts of what is left. */
  private void reduce(Part.Kind of) {
    List<Part> left = new ArrayList<>(needed.stream().filter(part -> part.kind() == of).toList());
    for (int piece = left.size(); piece > 0 && runs < MAX_RUNS; piece /= 2) {
      for (int at = 0; at < left.size() && runs < MAX_RUNS; ) {
        List<Part> out = left.subList(at, Math.min(left.size(), at + piece));
        if (failsWithout(out)) {
          out.clear();
        } else {
          at += piece;
        }
      }
    }
  }

  private boolean failsWithout(List<Part> out) {
    Set<Part> rest = new LinkedHashSet<>(needed);
    out.forEach(rest::remove);
    return failsWith(rest);
  }

  /** Tries without one request, the faults so much earlier as it may have had packets. */
  private void reduceShifted() {
    for (Part part : List.copyOf(needed)) {
      boolean gone = part.kind() != Part.Kind.OPERATION;
      for (int shift = 1; shift <= MAX_SHIFT && !gone && runs < MAX_RUNS; shift++) {
        Set<Part> rest = new LinkedHashSet<>();
        for (Part each : needed) {
          if (!each.equals(part)) {
            rest.add(each.earlier(shift));
          }
        }
        gone = failsWith(rest);
      }
    }
  }

  private boolean failsWith(Set<Part> rest) {
    Simulation candidate = simulation(Parts.only(rest), false);
    Throwable failure = play(candidate);
    if (failure == null || !kindOf(failure).equals(kind)) {
      return false;
    }
    // What it does not come to any more is not needed either.
    rest.retainAll(candidate.parts());
    needed = rest;
    return true;
  }

  private Simulation simulation(Parts parts, boolean takesNotes) {
    var simulation = new Simulation(seed, memory, parts, takesNotes ? TRACE_LINES : 1, takesNotes);
    if (maxSteps > 0) {
      simulation.limit(maxSteps);
    }
    preparation.accept(simulation);
    return simulation;
  }

  private Throwable play(Simulation simulation) {
    runs++;
    try {
      simulation.run();
      return null;
    } catch (AssertionError | RuntimeException e) {
      return e;
    }
  }

  /** The check that failed: where it is, not what numbers it found. */
  private static String kindOf(Throwable failure) {
    Throwable root = failure.getCause() == null ? failure : failure.getCause();
    for (StackTraceElement frame : root.getStackTrace()) {
      if (!frame.getMethodName().equals("check") && !frame.getMethodName().startsWith("lambda$check")) {
        return root.getClass().getName() + " in " + frame.getClassName() + "." + frame.getMethodName();
      }
    }
    return root.getClass().getName();
  }

  private static FailedSimulation.Size size(Set<Part> parts) {
    long pairs = parts.stream().filter(part -> part.kind() == Part.Kind.PAIR).count();
    long operations = parts.stream().filter(part -> part.kind() == Part.Kind.OPERATION).count();
    return new FailedSimulation.Size(pairs, operations, parts.size() - pairs - operations);
  }
}
