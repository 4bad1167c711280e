package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.mlx5.ib.StandaloneConnectx;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** How long it takes from a card that goes into its slot to a device with an active port that can be opened. */
final class Plug {
  private static final double AIM_MILLIS = 300;

  private Plug() {}

  static void measure(Report report, int rounds) {
    double[] first = new double[rounds];
    double[] later = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      first[round] = inNewProcess();
    }
    millis(); // to get warm
    for (int round = 0; round < rounds; round++) {
      later[round] = millis();
    }
    add(report, "from plug to usable device, the first of a process", first);
    add(report, "from plug to usable device, later ones", later);
  }

  private static double inNewProcess() {
    List<String> command =
        List.of(
            ProcessHandle.current().info().command().orElse("java"), "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), Plug.class.getName());
    try {
      Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      return Double.parseDouble(process.inputReader().readLine());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Plugs one card in and prints the time in milliseconds.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    System.out.println(millis());
  }

  private static void add(Report report, String title, double... millis) {
    Series series = new Series(title, "ms", millis);
    report.add(series);
    report.add(new Row(title, series, Aim.atMost(AIM_MILLIS)));
  }

  private static double millis() {
    Gid address = Gid.parse("::ffff:127.77.104.1");
    Fabric fabric = new Fabric(1, Clock.SYSTEM);
    long start = System.nanoTime();
    try (StandaloneConnectx card = new StandaloneConnectx("plug", address, fabric);
        var context = card.open()) {
      PortState state = context.device().port(1).state();
      if (state != PortState.ACTIVE) {
        throw new IllegalStateException("the port is " + state);
      }
      return (System.nanoTime() - start) / 1e6;
    }
  }
}
