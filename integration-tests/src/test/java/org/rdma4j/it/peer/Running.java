package org.rdma4j.it.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A process of this machine whose output goes to a file: it never blocks on a full pipe, and its output can be read
 * while it runs and after the tests.
 */
final class Running implements AutoCloseable {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final Duration END = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final Path output;

  private Running(String name, Process process, Path output) {
    this.name = name;
    this.process = process;
    this.output = output;
  }

  /** Starts a command with an empty standard input; both of its output streams go to a file in {@code logs}. */
  static Running start(String name, Path logs, Map<String, String> environment, List<String> command) {
    return start(name, logs, environment, command, Path.of("/dev/null"));
  }

  /** Starts a command that reads {@code input}. */
  static Running start(
      String name, Path logs, Map<String, String> environment, List<String> command, Path input) {
    try {
      Files.createDirectories(logs);
      Path output = logs.resolve("%04d-%s.log".formatted(COUNT.incrementAndGet(), name));
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().putAll(environment);
      builder.redirectInput(input.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
      return new Running(name, builder.start(), output);
    } catch (IOException e) {
      throw new PeerException("cannot start " + command, e);
    }
  }

  /** What the process has written until now. */
  String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends SIGTERM to the process alone, for one that ends what it started itself. */
  void terminate() {
    process.destroy();
  }

  /** Ends the process at once, as a crash would. */
  void kill() {
    process.destroyForcibly();
  }

  /** Waits for the end; a process that runs longer is ended, and that is a failure. */
  Result await(Duration limit) {
    try {
      if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        return new Result(name, process.exitValue(), output());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new PeerException(name + ": interrupted", e);
    }
    close();
    throw new PeerException(name + ": still running after " + limit + "; its output:\n" + output());
  }

  /** Ends the process and what it has started, by pid: first asked to, then forced. */
  @Override
  public void close() {
    List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroy);
    for (ProcessHandle each : all) {
      try {
        each.onExit().orTimeout(END.toMillis(), TimeUnit.MILLISECONDS).join();
      } catch (java.util.concurrent.CompletionException e) {
        each.destroyForcibly();
      }
    }
  }

  /**
   * How a command ended.
   *
   * @param name what it was, for messages
   * @param status its exit status
   * @param output what it wrote to both streams
   */
  record Result(String name, int status, String output) {
    /** Fails unless the exit status is 0. */
    Result ok() {
      if (status != 0) {
        throw new PeerException(name + ": exit status " + status + "; its output:\n" + output);
      }
      return this;
    }
  }
}
