package org.rdma4j.ulp.cmtime;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/** One run of {@code cmtime}, from its options to its exit status. */
final class Cmtime implements Command {
  /** Exit status of a call that failed: -1. */
  static final int FAILED = 255;

  /** EAI_NONAME as exit status. */
  private static final int NO_NAME = 254;

  private static final String ANY = "0.0.0.0";

  private final RdmaCm manager;
  private final boolean devices;

  /**
   * Prepares a run.
   *
   * @param manager makes the connections
   * @param devices whether there are any
   */
  Cmtime(RdmaCm manager, boolean devices) {
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    CmtimeOptions options;
    try {
      options = CmtimeOptions.parse(arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Usage.TEXT);
      return 1;
    }
    if (!devices) {
      throw new CommandException("No RDMA devices were detected");
    }
    try (RdmaCm cm = manager.open("cmtime")) {
      InetSocketAddress bind = options.bind() == null ? null : resolve(options.bind(), 0, out);
      if (options.server() == null) {
        InetAddress address = (bind == null ? resolve(ANY, 0, out) : bind).getAddress();
        try (Server server = new Server(cm, new InetSocketAddress(address, options.port()), err)) {
          return server.run();
        }
      }
      return new Client(cm, options, resolve(options.server(), options.port(), out), bind, out, err).run();
    } catch (VerbsException e) {
      throw failure("cmtime", e);
    }
  }

  private static InetSocketAddress resolve(String host, int port, PrintStream out) throws CommandException {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      out.println("getaddrinfo error: Name or service not known");
      throw new CommandException("cmtime: " + host + " is no host name and no address", NO_NAME, e);
    }
  }

  /** What the queue pair of every connection is. */
  static QpInitAttributes queuePair() {
    return new QpInitAttributes(QpType.RC).capabilities(new QpCapabilities(1, 1, 1, 1, 0));
  }

  /** A call that went wrong: a line as the original has it, and one that tells what was asked and what is allowed. */
  static String text(String call, VerbsException e) {
    return call + ": " + e.errno().text() + "\ncmtime: " + e.getMessage();
  }

  /** A call that went wrong and ends the run. */
  static CommandException failure(String call, VerbsException e) {
    return new CommandException(text(call, e), FAILED, e);
  }
}
