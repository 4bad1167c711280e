package org.rdma4j.benchmarks.speed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.rdma4j.roce.address.Gid;

/**
 * One of the two processes of a measurement. It takes commands from its standard input and answers each with one line,
 * {@code ok name=value ...} or {@code failed reason}:
 *
 * <pre>
 *   connect name=value ...   serve SEED   finish   run NANOS SEED   quit
 * </pre>
 */
final class Worker {
  /** Name of a result: processor time of the process in the slice, in nanoseconds. */
  static final String CPU = "cpu";

  private final Workload workload;
  private long cpuBefore;

  private Worker(Workload workload) {
    this.workload = workload;
  }

  /**
   * Serves its parent.
   *
   * @param arguments name of the case, own address, address of the peer
   * @throws IOException when the parent is gone
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream answers = System.out;
    try (Workload workload =
        Case.valueOf(arguments[0]).open(Gid.parse(arguments[1]), Gid.parse(arguments[2]))) {
      Worker worker = new Worker(workload);
      answers.println("ok " + workload.describe());
      var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = commands.readLine(); line != null && !line.equals("quit"); line = commands.readLine()) {
        answers.println(worker.answer(line));
      }
    }
  }

  private String answer(String line) {
    try {
      return "ok " + obey(line);
    } catch (RuntimeException e) {
      return "failed " + e;
    }
  }

  private Settings obey(String line) {
    String[] words = line.split(" ");
    Settings result = new Settings();
    switch (words[0]) {
      case "connect" -> workload.connect(Settings.parse(line));
      case "serve" -> {
        cpuBefore = cpuNanos();
        workload.serve(Integer.parseInt(words[1]));
      }
      case "finish" -> result = workload.finish().with(CPU, cpuNanos() - cpuBefore);
      case "run" -> {
        cpuBefore = cpuNanos();
        result = workload.run(Long.parseLong(words[1]), Integer.parseInt(words[2])).with(CPU, cpuNanos() - cpuBefore);
      }
      default -> throw new IllegalArgumentException("no command: " + line);
    }
    return result;
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
