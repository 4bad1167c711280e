package org.rdma4j.tools.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.felix.gogo.runtime.CommandProcessorImpl;
import org.apache.felix.service.command.Process;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommandRunnerTest {
  private final CommandProcessorImpl processor = new CommandProcessorImpl(null);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private CommandRunner runner;

  @BeforeEach
  void commands() {
    for (String name : List.of("show", "status", "number", "fault", "bare", "later", "release")) {
      processor.addCommand("rdma", new Commands(), name);
    }
    var output = new PrintStream(out, true, StandardCharsets.UTF_8);
    var error = new PrintStream(err, true, StandardCharsets.UTF_8);
    runner = new CommandRunner(processor.createSession(InputStream.nullInputStream(), output, error), output, error);
  }

  @Test
  void argumentsArriveAsTheyWereTyped() {
    var typed = List.of("-d", "a  b", "it's", "\"", "$x", "*", "{", "01", "", "a;b", "#");
    assertEquals(0, runner.run("show", typed));
    assertEquals(String.join("|", typed) + "\n", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void theProcessErrorIsTheStatus() {
    assertEquals(3, runner.run("status", List.of("3")));
    assertEquals("", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aNumberReturnedIsTheStatus() {
    assertEquals(4, runner.run("number", List.of("4")));
    assertEquals("", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void anExceptionIsPrintedWithTheName() {
    assertEquals(1, runner.run("fault", List.of("out of order")));
    assertEquals("fault: out of order\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void anExceptionWithoutMessageIsNamed() {
    assertEquals(1, runner.run("bare", List.of()));
    assertEquals("bare: IllegalStateException\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void anUnknownCommandHasItsOwnStatus() {
    assertEquals(CommandRunner.NOT_FOUND, runner.run("nosuch", List.of()));
    assertEquals(
        "rdma: nosuch: no such command (\"rdma --help\" lists them)\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aScriptGoesOnAfterAStatusAndKeepsTheFirst() {
    assertEquals(3, runner.runScript("show a; status 3; number 4; show b"));
    assertEquals("a\nb\n", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aScriptEndsAtAnException() {
    assertEquals(1, runner.runScript("show a; fault gone; show b"));
    assertEquals("a\n", out.toString(StandardCharsets.UTF_8));
    assertEquals("fault: gone\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aScriptWaitsForItsBackground() {
    assertEquals(5, runner.runScript("later 5 & ; release"));
    assertEquals("late\n", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aScriptThatCannotBeReadFails() {
    assertEquals(1, runner.runScript("show { a"));
    assertEquals("", out.toString(StandardCharsets.UTF_8));
  }

  /** What is run. */
  public static final class Commands {
    private static final CountDownLatch RELEASED = new CountDownLatch(1);

    /** Shows its arguments. */
    public void show(String[] arguments) {
      Process.Utils.current().out().println(String.join("|", arguments));
    }

    /** Sets a status. */
    public void status(String[] arguments) {
      Process.Utils.current().error(Integer.parseInt(arguments[0]));
    }

    /** Returns a status. */
    public int number(String[] arguments) {
      return Integer.parseInt(arguments[0]);
    }

    /** Throws. */
    public void fault(String[] arguments) {
      throw new IllegalStateException(arguments[0]);
    }

    /** Throws without a message. */
    public void bare() {
      throw new IllegalStateException();
    }

    /** Waits to be released, then fails. */
    public void later(String[] arguments) throws InterruptedException {
      Process process = Process.Utils.current();
      RELEASED.await();
      process.out().println("late");
      process.error(Integer.parseInt(arguments[0]));
    }

    /** Releases who waits. */
    public void release() {
      RELEASED.countDown();
    }
  }
}
