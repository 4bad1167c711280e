package org.rdma4j.benchmarks.speed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** The field's measuring tools between the two devices of the kernel in the guest ({@code benchmarks/guest}). */
final class Perftest {
  private static final String FAR_DEVICE = "rk1";
  private static final String NEAR_DEVICE = "rk0";
  private static final long LIMIT_SECONDS = 120;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  // in /proc/net/tcp: perftest's port 18515, any address, state LISTEN
  private static final String LISTENING = ":4853 00000000:0000 0A";
  private static final double MEGABYTE = 1 << 20;
  private static final int AVERAGE = 3;
  private static final int TYPICAL = 4;
  private static final int P99 = 7;
  private static final int P999 = 8;

  private Perftest() {}

  /** Returns GB/s of {@code ib_write_bw}, or NaN where the tool did not come to its end. */
  static double writeBandwidth(int size, int seconds) {
    // the first and last second are left out
    List<String> options = List.of("-s", Integer.toString(size), "-D", Integer.toString(seconds + 2), "-f", "1");
    String[] line = run("ib_write_bw", options);
    return line.length == 0 ? Double.NaN : number(line[AVERAGE]) * MEGABYTE / 1e9;
  }

  /** Returns round trips of {@code ib_send_lat} in microseconds: p50, p99, p99.9. The tool prints half of each. */
  static double[] sendRoundTrip(int size, int iterations, boolean events) {
    List<String> options = new ArrayList<>(List.of("-s", Integer.toString(size), "-n", Integer.toString(iterations)));
    if (events) {
      options.add("-e");
    }
    String[] line = run("ib_send_lat", options);
    if (line.length == 0) {
      return new double[] {Double.NaN, Double.NaN, Double.NaN};
    }
    return Stream.of(line[TYPICAL], line[P99], line[P999]).mapToDouble(each -> 2 * number(each)).toArray();
  }

  /** The tool prints "inf" and "-nan" for what it cannot tell. */
  private static double number(String word) {
    return word.matches("[0-9.]+") ? Double.parseDouble(word) : Double.NaN;
  }

  /** The words of the line of results, none where there is no such line. */
  private static String[] run(String tool, List<String> options) {
    Process server = null;
    try {
      Path output = Files.createTempFile("perftest", ".txt");
      server = start(tool, FAR_DEVICE, options, "").redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
      while (server.isAlive() && !Files.readString(Path.of("/proc/net/tcp")).contains(LISTENING)) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      Process client = start(tool, NEAR_DEVICE, options, "127.0.0.1").redirectOutput(output.toFile()).start();
      if (!client.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        client.destroyForcibly();
      }
      server.waitFor(1, TimeUnit.SECONDS);
      String size = options.get(1);
      String[] words =
          Files.readAllLines(output).stream()
              .map(each -> each.strip().split("\\s+"))
              .filter(each -> each.length > AVERAGE && each[0].equals(size))
              .findFirst()
              .orElse(new String[0]);
      Files.delete(output);
      return words;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new String[0];
    } finally {
      if (server != null) {
        server.destroyForcibly();
      }
    }
  }

  private static ProcessBuilder start(String tool, String device, List<String> options, String host) {
    List<String> command = new ArrayList<>(List.of(tool, "-d", device, "-x", "1", "-m", "4096", "-F"));
    command.addAll(options);
    if (!host.isEmpty()) {
      command.add(host);
    }
    return new ProcessBuilder(command).redirectErrorStream(true);
  }
}
