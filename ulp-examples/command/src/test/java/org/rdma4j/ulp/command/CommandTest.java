package org.rdma4j.ulp.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class CommandTest {
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  @Test
  void itsStatusIsTheCommands() {
    assertEquals(3, run((arguments, out, err) -> 3));
    assertEquals("", errors.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aFailureIsALineAndAStatus() {
    assertEquals(
        4,
        run(
            (arguments, out, err) -> {
              throw new CommandException("cmd: no", 4, null);
            }));
    assertEquals("cmd: no", errors.toString(StandardCharsets.UTF_8).strip());
  }

  @Test
  void aCauseIsNamed() {
    assertEquals("cmd: no: why", new CommandException("cmd: no", new IllegalStateException("why")).getMessage());
    assertEquals(
        "cmd: no: IllegalStateException", new CommandException("cmd: no", new IllegalStateException()).getMessage());
  }

  @Test
  void anInterruptIsPassedOn() {
    assertEquals(
        Command.INTERRUPTED,
        run(
            (arguments, out, err) -> {
              throw new InterruptedException();
            }));
    assertTrue(Thread.interrupted());
  }

  private int run(Command command) {
    PrintStream err = new PrintStream(errors, true, StandardCharsets.UTF_8);
    return Command.execute(command, new PrintStream(new ByteArrayOutputStream()), err);
  }
}
