package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.rdma4j.benchmarks.report.Report;

/**
 * Measures the software provider between two processes over UDP on the loopback interface, next to the bare link, plain
 * NIO and a bare UDP round trip. Prints the table to standard output, what it is at to standard error, and writes all
 * values to a JSON file.
 */
public final class SpeedBenchmark {
  private static final String USAGE =
      """
      speed [--rounds N] [--seconds S] [--warm-up S] [--case NAME,...] [--single NAME,...] [--json FILE] [--jvm OPTION]
        --rounds    rounds, each with one slice of every case (5)
        --seconds   length of a slice (1)
        --warm-up   length of the first slice, which does not count (4)
        --case      only these between two processes, or none: %s
        --single    only these in one process, or none: %s
        --json      where all values go (speed.json)
        --jvm       option of the measured processes, may be given several times
      """;

  private int rounds = 5;
  private double seconds = 1;
  private double warmUp = 4;
  private List<Case> cases = List.of(Case.values());
  private List<Single> singles = List.of(Single.values());
  private Path json = Path.of("speed.json");
  private List<String> jvmOptions = List.of();

  private SpeedBenchmark() {}

  /**
   * Runs the benchmark.
   *
   * @param arguments see {@code --help}
   * @throws IOException when the JSON file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    SpeedBenchmark benchmark = new SpeedBenchmark();
    try {
      if (!benchmark.parse(arguments)) {
        System.out.printf(USAGE, Arrays.toString(Case.values()), Arrays.toString(Single.values()));
        return;
      }
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      System.err.println("speed: " + e.getMessage());
      System.err.printf(USAGE, Arrays.toString(Case.values()), Arrays.toString(Single.values()));
      System.exit(2);
    }
    Report report = benchmark.run();
    Files.writeString(benchmark.json, report.toJson());
    System.out.print(report.toMarkdown());
  }

  private boolean parse(String[] arguments) {
    for (int i = 0; i < arguments.length; i += 2) {
      String value = i + 1 < arguments.length ? arguments[i + 1] : "";
      switch (arguments[i]) {
        case "--rounds" -> rounds = Integer.parseInt(value);
        case "--seconds" -> seconds = Double.parseDouble(value);
        case "--warm-up" -> warmUp = Double.parseDouble(value);
        case "--case" -> cases = names(value).map(Case::valueOf).toList();
        case "--single" -> singles = names(value).map(Single::valueOf).toList();
        case "--json" -> json = Path.of(value);
        case "--jvm" -> {
          jvmOptions = new java.util.ArrayList<>(jvmOptions);
          jvmOptions.add(value);
        }
        case "--help" -> {
          return false;
        }
        default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
      }
    }
    return true;
  }

  private static Stream<String> names(String list) {
    Stream<String> given = list.equals("none") ? Stream.of() : Arrays.stream(list.split(","));
    return given.map(name -> name.toUpperCase(Locale.ROOT));
  }

  private Report run() {
    Report report = new Report("speed");
    report.about("rounds", Integer.toString(rounds));
    report.about("seconds a slice", Double.toString(seconds));
    double loadBefore = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    Rounds measured = new Rounds(cases);
    if (!cases.isEmpty()) {
      measured.run(rounds, nanos(warmUp), nanos(seconds), jvmOptions, System.err::println);
    }
    report.about(
        "load before", String.format(Locale.ROOT, "%.1f", loadBefore));
    measured.report(report);
    for (Single each : singles) {
      System.err.println("in one process: " + each);
      each.measure(report, rounds, seconds);
    }
    return report;
  }

  private static long nanos(double value) {
    return (long) (value * TimeUnit.SECONDS.toNanos(1));
  }
}
