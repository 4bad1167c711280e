package org.rdma4j.ulp.command;

import java.io.PrintStream;
import org.apache.felix.service.command.Process;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * A program of the command line, apart from the shell it runs in. Where it blocks it can be interrupted, and then ends.
 */
@ConsumerType
@FunctionalInterface
public interface Command {
  /** Exit status of a command that was interrupted, as shells give it: 128 + SIGINT. */
  int INTERRUPTED = 130;

  /**
   * Runs the command.
   *
   * @param arguments what was typed after the name
   * @param out what it has to say
   * @param err what went wrong
   * @return the exit status: 0 for success
   * @throws CommandException when it failed
   * @throws InterruptedException when it was told to end
   */
  int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException;

  /**
   * Runs a command as the Gogo process of the calling thread: with its streams, and telling it the exit status.
   *
   * @param command the command
   * @param arguments what was typed after the name
   */
  static void execute(Command command, String... arguments) {
    Process process = Process.Utils.current();
    int status = execute(command, process.out(), process.err(), arguments);
    if (status != 0) {
      process.error(status);
    }
  }

  /**
   * Runs a command with given streams.
   *
   * @param command the command
   * @param out what it has to say
   * @param err what went wrong
   * @param arguments what was typed after the name
   * @return the exit status; {@link #INTERRUPTED} with the interrupt flag set when it was told to end
   */
  static int execute(Command command, PrintStream out, PrintStream err, String... arguments) {
    try {
      return command.run(arguments, out, err);
    } catch (CommandException e) {
      err.println(e.getMessage());
      return e.status();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return INTERRUPTED;
    } finally {
      out.flush();
      err.flush();
    }
  }
}
