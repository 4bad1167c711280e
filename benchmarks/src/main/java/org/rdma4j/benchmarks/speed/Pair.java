package org.rdma4j.benchmarks.speed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Two processes that measure one case against each other; they stay alive, so that they are warm in every slice. */
final class Pair implements AutoCloseable {
  private static final long QUIT_SECONDS = 10;
  private static final int MOST_LINES = 40;

  /** One of the two. */
  private static final class Side {
    private final Process process;
    private final Writer commands;
    private final BufferedReader answers;

    Side(List<String> command) throws IOException {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      commands = process.outputWriter(StandardCharsets.UTF_8);
      answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    Settings ask(String command) throws IOException {
      commands.write(command + "\n");
      commands.flush();
      return answer();
    }

    Settings answer() throws IOException {
      String line = answers.readLine();
      if (line == null || !line.startsWith("ok")) {
        throw new IllegalStateException("a process of the measurement answered: " + line + rest());
      }
      return Settings.parse(line);
    }

    /** What a process that has ended said before it did, such as the report of a JVM that crashed. */
    private String rest() throws IOException {
      var rest = new StringBuilder();
      try {
        if (process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS)) {
          answers.lines().limit(MOST_LINES).forEach(each -> rest.append('\n').append(each));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return rest.toString();
    }

    void quit() {
      try {
        commands.write("quit\n");
        commands.close();
        if (!process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (IOException e) {
        process.destroyForcibly();
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Where a side runs.
   *
   * @param prefix what its command begins with, such as a network namespace to enter
   * @param address its address, as a GID
   */
  record Place(List<String> prefix, String address) {}

  private final Case measured;
  private final Side active;
  private final Side passive;
  private int slices;

  /**
   * Starts the processes and connects them.
   *
   * @param measured what to measure
   * @param jvmOptions options of both, besides those that every process gets
   */
  Pair(Case measured, List<String> jvmOptions) {
    this(measured, jvmOptions, loopback(measured, 1), loopback(measured, 2));
  }

  /**
   * Starts the processes in places of their own and connects them.
   *
   * @param measured what to measure
   * @param jvmOptions options of both, besides those that every process gets
   * @param one of the side that runs
   * @param other of the side that serves
   */
  Pair(Case measured, List<String> jvmOptions, Place one, Place other) {
    this.measured = measured;
    try {
      active = new Side(command(measured, jvmOptions, one, other));
      passive = new Side(command(measured, jvmOptions, other, one));
      Settings ofActive = active.answer();
      Settings ofPassive = passive.answer();
      active.ask("connect " + ofPassive);
      passive.ask("connect " + ofActive);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Place loopback(Case measured, int host) {
    return new Place(List.of(), "::ffff:127.77." + (measured.ordinal() + 1) + "." + host);
  }

  private static List<String> command(Case measured, List<String> jvmOptions, Place local, Place remote) {
    List<String> command = new ArrayList<>(local.prefix());
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(
        List.of("-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Worker.class.getName()));
    command.addAll(List.of(measured.name(), local.address(), remote.address()));
    return command;
  }

  Case measured() {
    return measured;
  }

  /** Runs one slice; the payload has been verified when this returns. */
  Settings slice(long nanos) {
    int seed = ++slices;
    try {
      passive.ask("serve " + seed);
      Settings result = run(nanos, seed);
      Settings served = passive.ask("finish");
      return result
          .with(Workload.REPEATED, result.orZero(Workload.REPEATED) + served.orZero(Workload.REPEATED))
          .with(Workload.NOT_READY, result.orZero(Workload.NOT_READY) + served.orZero(Workload.NOT_READY))
          .with("cpuActive", result.get(Worker.CPU))
          .with("cpuPassive", served.get(Worker.CPU));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where the active side waits in vain the passive one may know why. */
  private Settings run(long nanos, int seed) throws IOException {
    try {
      return active.ask("run " + nanos + " " + seed);
    } catch (IllegalStateException e) {
      try {
        passive.ask("finish");
      } catch (IllegalStateException reason) {
        e.addSuppressed(reason);
      }
      throw e;
    }
  }

  @Override
  public void close() {
    active.quit();
    passive.quit();
  }
}
