package org.rdma4j.benchmarks.speed;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;

/** Runs all cases round by round, so that what disturbs the machine disturbs all of them, and compares them. */
final class Rounds {
  private static final String GIGABYTES = "GB/s";
  private static final String MICROSECONDS = "µs";
  private static final String RATE = "messages/s";

  private final List<Case> cases;
  private final List<List<Settings>> slices = new ArrayList<>();

  Rounds(List<Case> cases) {
    this.cases = cases;
    cases.forEach(each -> slices.add(new ArrayList<>()));
  }

  /** Measures: first a slice of each to get warm, then the rounds. */
  void run(int rounds, long warmUpNanos, long nanos, List<String> jvmOptions, Consumer<String> progress) {
    List<Pair> pairs = new ArrayList<>();
    try {
      for (Case each : cases) {
        progress.accept("warming up: " + each.title());
        Pair pair = new Pair(each, jvmOptions);
        pairs.add(pair);
        pair.slice(warmUpNanos);
      }
      for (int round = 0; round < rounds; round++) {
        progress.accept("round " + (round + 1) + " of " + rounds);
        for (int i = 0; i < pairs.size(); i++) {
          Settings slice = pairs.get(i).slice(nanos);
          slices.get(i).add(slice);
          progress.accept("  " + cases.get(i).title() + ": " + slice);
        }
      }
    } finally {
      pairs.forEach(Pair::close);
    }
  }

  /** Adds all that was measured to a report, and the rows that can be made of it. */
  void report(Report report) {
    for (Case each : cases) {
      addResults(report, each);
    }
    for (Case large : List.of(Case.WRITE_64K, Case.SEND_64K, Case.READ_64K)) {
      Aim overLink = large == Case.READ_64K ? Aim.NONE : Aim.atLeast(0.7);
      Aim overNio = large == Case.READ_64K ? Aim.NONE : Aim.atLeast(3);
      compare(report, large, Case.LINK, GIGABYTES, overLink, "the bare link");
      compare(report, large, Case.NIO, GIGABYTES, overNio, "NIO, one call a packet");
    }
    for (String quantile : List.of(Workload.P50, Workload.P99, Workload.P999)) {
      compare(report, Case.SEND_64_POLL, Case.UDP_64_POLL, quantile, Aim.atMost(1.5), "UDP, both polling");
      compare(report, Case.SEND_64_EVENT, Case.UDP_64_BLOCK, quantile, Aim.atMost(1.5), "UDP, both sleeping");
    }
    compare(report, Case.RATE_8, Case.RATE_1, RATE, new Aim(0.8, 1.2), "1 queue pair");
    compare(report, Case.RATE_32, Case.RATE_1, RATE, new Aim(0.8, 1.2), "1 queue pair");
    for (Case lossy : List.of(Case.LOSS_01, Case.LOSS_1, Case.LOSS_5)) {
      compare(report, lossy, Case.WRITE_64K, GIGABYTES, Aim.NONE, "no loss");
    }
  }

  private void addResults(Report report, Case each) {
    if (has(each, Workload.P50)) {
      for (String quantile : List.of(Workload.P50, Workload.P99, Workload.P999)) {
        report.add(series(each, quantile, MICROSECONDS, slice -> slice.get(quantile) / 1e3));
      }
    } else {
      report.add(
          series(each, GIGABYTES, GIGABYTES, slice -> (double) slice.get(Workload.BYTES) / slice.get(Workload.NANOS)));
      report.add(
          series(each, RATE, RATE, slice -> slice.get(Workload.MESSAGES) * 1e9 / slice.get(Workload.NANOS)));
    }
    report.add(
        series(
            each, "processor time of a message", MICROSECONDS,
            slice ->
                (slice.get("cpuActive") + slice.get("cpuPassive")) / 1e3 / Math.max(1, slice.get(Workload.MESSAGES))));
    report.add(series(each, Workload.REPEATED, "packets", slice -> slice.get(Workload.REPEATED)));
  }

  private boolean has(Case each, String value) {
    return slices.get(cases.indexOf(each)).getFirst().orZero(value) != 0;
  }

  private Series series(Case each, String quantity, String unit, ToDoubleFunction<Settings> value) {
    double[] values = slices.get(cases.indexOf(each)).stream().mapToDouble(value).toArray();
    return new Series(name(each, quantity), unit, values);
  }

  private static String name(Case each, String quantity) {
    return each.title() + ", " + quantity;
  }

  private void compare(Report report, Case ours, Case theirs, String quantity, Aim aim, String against) {
    if (cases.contains(ours) && cases.contains(theirs)) {
      Series one = Series.find(report.results(), name(ours, quantity));
      Series other = Series.find(report.results(), name(theirs, quantity));
      boolean time = one.unit().equals(MICROSECONDS);
      String title = "`" + ours.title() + "`" + (time ? ", " + quantity : "") + ", against " + against;
      report.add(new Row(title, one.over(title, other), aim));
    }
  }
}
