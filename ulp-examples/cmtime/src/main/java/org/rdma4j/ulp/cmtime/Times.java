package org.rdma4j.ulp.cmtime;

import java.util.Locale;

/**
 * When each step began and ended: for each connection, and from the first to the last of them. Times are nanoseconds of
 * {@link System#nanoTime()}. The elements belong to the thread that sets them; whoever reads them has waited for it.
 */
final class Times {
  /** The heading of the table. */
  static final String HEADING = "step              total ms     max ms     min us  us / conn";

  private static final double NONE_MICROS = 999_999_999;
  private static final double NANOS_PER_MICRO = 1_000;
  private static final double MICROS_PER_MILLI = 1_000;

  private final Interval[] whole = new Interval[Step.values().length];
  private final Interval[][] each = new Interval[Step.values().length][];

  /** From one moment to another; only counts where both were set. */
  private static final class Interval {
    private long begin;
    private long end;
    private boolean begun;
    private boolean ended;

    double micros() {
      return (end - begin) / NANOS_PER_MICRO;
    }

    boolean complete() {
      return begun && ended;
    }
  }

  Times(int connections) {
    for (Step step : Step.values()) {
      whole[step.ordinal()] = new Interval();
      each[step.ordinal()] = new Interval[connections];
      for (int i = 0; i < connections; i++) {
        each[step.ordinal()][i] = new Interval();
      }
    }
  }

  void begin(Step step, long now) {
    begin(whole[step.ordinal()], now);
  }

  void end(Step step, long now) {
    end(whole[step.ordinal()], now);
  }

  void begin(Step step, int connection, long now) {
    begin(each[step.ordinal()][connection], now);
  }

  void end(Step step, int connection, long now) {
    end(each[step.ordinal()][connection], now);
  }

  private static void begin(Interval interval, long now) {
    interval.begin = now;
    interval.begun = true;
  }

  private static void end(Interval interval, long now) {
    interval.end = now;
    interval.ended = true;
  }

  /** The line of the table for a step. */
  String line(Step step) {
    double max = 0;
    double min = NONE_MICROS;
    Interval[] all = each[step.ordinal()];
    for (Interval interval : all) {
      if (interval.complete()) {
        max = Math.max(max, interval.micros());
        min = Math.min(min, interval.micros());
      }
    }
    Interval total = whole[step.ordinal()];
    double micros = total.complete() ? total.micros() : 0;
    return String.format(
        Locale.ROOT, "%-13s: %11.2f%11.2f%11.2f%11.2f", step.label(), micros / MICROS_PER_MILLI,
        max / MICROS_PER_MILLI, min, micros / all.length);
  }
}
