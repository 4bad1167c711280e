package org.rdma4j.benchmarks.speed;

import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;

/** Runs {@link OperationBenchmark} with JMH's {@code gc} profiler and reports the bytes allocated per operation. */
final class Allocations {
  private static final String NORMALIZED = "gc.alloc.rate.norm";

  /** What JMH itself allocates in an iteration, spread over its operations, stays below this. */
  private static final double NOTHING = 0.5;

  /** Enough for all to be compiled, also on a busy machine. */
  private static final int WARM_UPS = 6;

  private Allocations() {}

  static void measure(Report report, Class<?> operations, int iterations, double seconds) {
    TimeValue time = TimeValue.milliseconds((long) (seconds * TimeUnit.SECONDS.toMillis(1)));
    var options =
        new OptionsBuilder()
            .include("^" + Pattern.quote(operations.getName()) + "\\.")
            .addProfiler(GCProfiler.class)
            .verbosity(VerboseMode.SILENT)
            .warmupIterations(WARM_UPS)
            .warmupTime(time)
            .measurementTime(time)
            .measurementIterations(iterations)
            .build();
    try {
      new Runner(options).run().forEach(result -> add(report, result));
    } catch (RunnerException e) {
      throw new IllegalStateException("the JMH benchmarks failed", e);
    }
  }

  private static void add(Report report, RunResult result) {
    String of = result.getParams().getBenchmark();
    String name = (of.contains("Card") ? "card " : "") + result.getPrimaryResult().getLabel();
    double[] bytes =
        result.getBenchmarkResults().stream()
            .flatMap(fork -> fork.getIterationResults().stream())
            .mapToDouble(iteration -> iteration.getSecondaryResults().get(NORMALIZED).getScore())
            .toArray();
    Series series = new Series(name + ", allocated per operation", "B", bytes);
    report.add(series);
    report.add(new Row("bytes allocated per `" + name + "`", series, Aim.atMost(NOTHING)));
  }
}
