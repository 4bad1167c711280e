package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;

/**
 * Runs in a Linux guest that {@code benchmarks/guest} has prepared, and measures in turns: two of our processes over
 * a pair of veth, and the kernel's rxe with {@code perftest} over another. Then both again while their links lose
 * packets.
 */
final class GuestBenchmark {
  private static final String GIGABYTES = "GB/s";
  private static final String MICROSECONDS = "µs";
  private static final int LARGE = 65_536;
  private static final int SMALL = 64;
  private static final int ROUND_TRIPS = 2000;
  /**
   * An emulated processor is slow at wide registers and at carry-less multiplication, which the JVM else prefers, and
   * so slow that the optimizing compiler would take the processors from what is measured for many minutes.
   */
  private static final List<String> EMULATED =
      List.of(
          "-XX:UseAVX=0",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-UseCRC32Intrinsics",
          "-XX:TieredStopAtLevel=1");

  private static final List<String> LOSSES = List.of("0%", "0.1%", "1%", "5%");

  private final int rounds;
  private final int seconds;
  private final Path network;
  private final Map<String, List<Double>> values = new LinkedHashMap<>();

  private GuestBenchmark(int rounds, int seconds, Path network) {
    this.rounds = rounds;
    this.seconds = seconds;
    this.network = network;
  }

  /**
   * Measures.
   *
   * @param arguments rounds, seconds of a slice, seconds to get warm, the script that makes links lose packets, a file
   *     for the values
   * @throws IOException when that file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    var benchmark =
        new GuestBenchmark(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), Path.of(arguments[3]));
    Report report = benchmark.run(Integer.parseInt(arguments[2]));
    Files.writeString(Path.of(arguments[4]), report.toJson());
    System.out.print(report.toMarkdown());
  }

  private Report run(int warmUp) {
    try (Pair large = warm(Case.WRITE_64K, warmUp);
        Pair small = warm(Case.WRITE_64, warmUp);
        Pair polling = warm(Case.SEND_64_POLL, warmUp);
        Pair sleeping = warm(Case.SEND_64_EVENT, warmUp)) {
      for (int round = 1; round <= rounds; round++) {
        stream("write 64 KiB", large, LARGE);
        stream("write 64 B", small, SMALL);
        roundTrip("send 64 B polling", polling, false);
        roundTrip("send 64 B sleeping", sleeping, true);
        System.err.println("round " + round + " of " + rounds + ": " + values);
      }
      for (int round = 1; round <= rounds; round++) {
        for (String loss : LOSSES) {
          lose(loss);
          stream("write 64 KiB at " + loss + " loss", large, LARGE);
        }
        System.err.println("loss, round " + round + " of " + rounds + ": " + values);
      }
    }
    return report();
  }

  private static Pair warm(Case measured, int seconds) {
    System.err.println("warming up: " + measured.title());
    Pair pair = new Pair(measured, EMULATED, place(measured, 0), place(measured, 1));
    pair.slice(TimeUnit.SECONDS.toNanos(seconds));
    return pair;
  }

  private static Pair.Place place(Case measured, int side) {
    String address = "::ffff:198.18.2." + (2 * measured.ordinal() + side + 1);
    return new Pair.Place(List.of("ip", "netns", "exec", "j" + side), address);
  }

  private void lose(String loss) {
    try {
      Process process = new ProcessBuilder("sh", network.toString(), "loss", loss).inheritIO().start();
      if (process.waitFor() != 0) {
        throw new IllegalStateException(network + " loss " + loss + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void stream(String name, Pair pair, int size) {
    note(kernel(name), Perftest.writeBandwidth(size, seconds));
    Settings slice = pair.slice(TimeUnit.SECONDS.toNanos(seconds));
    note(ours(name), (double) slice.get(Workload.BYTES) / slice.get(Workload.NANOS));
  }

  private void roundTrip(String name, Pair pair, boolean events) {
    double[] theirs = Perftest.sendRoundTrip(SMALL, ROUND_TRIPS, events);
    Settings slice = pair.slice(TimeUnit.SECONDS.toNanos(seconds));
    List<String> quantiles = List.of(Workload.P50, Workload.P99, Workload.P999);
    for (int i = 0; i < quantiles.size(); i++) {
      String quantile = name + " " + quantiles.get(i);
      note(kernel(quantile), theirs[i]);
      note(ours(quantile), slice.get(quantiles.get(i)) / 1e3);
    }
  }

  private void note(String name, double value) {
    values.computeIfAbsent(name, absent -> new ArrayList<>()).add(value);
  }

  private static String ours(String name) {
    return "rdma4j, " + name;
  }

  private static String kernel(String name) {
    return "kernel rxe, " + name;
  }

  private Series series(String name, String unit) {
    return new Series(name, unit, values.get(name).stream().mapToDouble(Double::doubleValue).toArray());
  }

  private Report report() {
    Report report = new Report("guest");
    report.about("rounds", Integer.toString(rounds));
    report.about("seconds a slice", Integer.toString(seconds));
    report.about("options of our processes", String.join(" ", EMULATED));
    values
        .keySet()
        .forEach(name -> report.add(series(name, name.contains("send 64 B") ? MICROSECONDS : GIGABYTES)));
    for (String name : List.of("write 64 KiB", "write 64 B")) {
      ratio(report, name, ours(name), kernel(name), GIGABYTES, Aim.atLeast(1.5));
    }
    for (String way : List.of("send 64 B polling ", "send 64 B sleeping ")) {
      ratio(report, way + "p50", ours(way + "p50"), kernel(way + "p50"), MICROSECONDS, Aim.atMost(1.2));
      ratio(report, way + "p99", ours(way + "p99"), kernel(way + "p99"), MICROSECONDS, Aim.NONE);
      ratio(report, way + "p99.9", ours(way + "p999"), kernel(way + "p999"), MICROSECONDS, Aim.NONE);
    }
    String without = "write 64 KiB at " + LOSSES.getFirst() + " loss";
    for (String loss : LOSSES.subList(1, LOSSES.size())) {
      String name = "write 64 KiB at " + loss + " loss";
      ratio(report, name, ours(name), kernel(name), GIGABYTES, Aim.NONE);
      ratio(report, name + ", rdma4j against itself without", ours(name), ours(without), GIGABYTES, Aim.NONE);
      ratio(report, name + ", kernel rxe against itself without", kernel(name), kernel(without), GIGABYTES, Aim.NONE);
    }
    return report;
  }

  private void ratio(Report report, String title, String one, String other, String unit, Aim aim) {
    String full = one.startsWith("kernel") || title.contains("against") ? title : title + ", against kernel rxe";
    report.add(new Row(full, series(one, unit).over(full, series(other, unit)), aim));
  }
}
