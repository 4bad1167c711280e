package org.rdma4j.ulp.rping;

import java.io.PrintStream;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ulp.command.CommandException;

/** What a run says: pings and, where asked for, each step on one stream, what went wrong on the other. */
final class Output {
  /** Exit status of a run that failed: -1. */
  static final int FAILED = 255;

  private final PrintStream out;
  private final PrintStream err;
  private final boolean debug;

  Output(PrintStream out, PrintStream err, boolean debug) {
    this.out = out;
    this.err = err;
    this.debug = debug;
  }

  /** Something that was asked for. */
  void line(String text) {
    out.println(text);
  }

  /** A step. */
  void debug(String text) {
    if (debug) {
      out.println(text);
    }
  }

  /** Something that went wrong. */
  void error(String text) {
    err.println(text);
  }

  /** A call that went wrong: a line as the original has it, and one that tells what was asked and what is allowed. */
  void error(String call, VerbsException e) {
    err.println(text(call, e));
  }

  /** A call that went wrong and ends the run. */
  static CommandException failure(String call, VerbsException e) {
    return new CommandException(text(call, e), FAILED, e);
  }

  private static String text(String call, VerbsException e) {
    return call + ": " + e.errno().text() + "\nrping: " + e.getMessage();
  }
}
