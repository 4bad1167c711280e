package org.rdma4j.ulp.rping;

import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** What was typed after {@code rping}, over its defaults. */
final class RpingOptions {
  /** Exit status of a command line that is not understood: EINVAL. */
  static final int EINVAL = 22;

  /** The shortest ping. */
  static final int MIN_SIZE = 23;

  /** The longest ping. The original names this limit, but stops one short of it. */
  static final int MAX_SIZE = 65536;

  private static final String NAME = "rping";
  private static final int MAX_PORT = 65535;

  /** EAI_NONAME as exit status. */
  private static final int NO_NAME = 254;

  private static final Getopt GETOPT =
      new Getopt(
          NAME,
          new Getopt.Option('a', null, true),
          new Getopt.Option('I', null, true),
          new Getopt.Option('P', null, false),
          new Getopt.Option('p', null, true),
          new Getopt.Option('C', null, true),
          new Getopt.Option('S', null, true),
          new Getopt.Option('s', null, false),
          new Getopt.Option('c', null, false),
          new Getopt.Option('v', null, false),
          new Getopt.Option('V', null, false),
          new Getopt.Option('d', null, false),
          new Getopt.Option('q', null, false));

  private final PrintStream out;
  private Boolean server;
  private InetAddress address;
  private InetAddress source;
  private int port = 7174;
  private int count;
  private int size = 64;
  private boolean verbose;
  private boolean validate;
  private boolean debug;
  private boolean persistent;
  private boolean ownQp;

  private RpingOptions(PrintStream out) {
    this.out = out;
  }

  /**
   * Reads a command line.
   *
   * @param out where {@code -d} tells of each option that follows it
   * @throws UsageException where it is not understood
   * @throws CommandException where a value is not allowed or an address not known
   */
  static RpingOptions parse(PrintStream out, String... arguments) throws UsageException, CommandException {
    RpingOptions options = new RpingOptions(out);
    Getopt.Result result = GETOPT.parse(arguments);
    for (Getopt.Given given : result.options()) {
      options.set(given.letter(), given.argument());
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    if (options.server == null) {
      throw new UsageException(NAME + ": one of -s and -c is needed");
    }
    return options;
  }

  private void set(char letter, String argument) throws UsageException, CommandException {
    switch (letter) {
      case 'a' -> address = host(argument);
      case 'I' -> source = host(argument);
      case 'P' -> persistent = true;
      case 'p' -> {
        port = Numbers.parse(NAME, "-p", argument, 0, MAX_PORT);
        debug("port " + port);
      }
      case 's' -> {
        server = true;
        debug("server");
      }
      case 'c' -> {
        server = false;
        debug("client");
      }
      case 'S' -> setSize(argument);
      case 'C' -> setCount(argument);
      case 'v' -> {
        verbose = true;
        debug("verbose");
      }
      case 'V' -> {
        validate = true;
        debug("validate data");
      }
      case 'd' -> debug = true;
      default -> ownQp = true;
    }
  }

  private void setSize(String argument) throws UsageException, CommandException {
    size = Numbers.parse(NAME, "-S", argument, Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (size < MIN_SIZE || size > MAX_SIZE) {
      String range = " (valid range is " + MIN_SIZE + " to " + MAX_SIZE + ")";
      throw new CommandException("Invalid size " + size + range, EINVAL, null);
    }
    debug("size " + size);
  }

  private void setCount(String argument) throws UsageException, CommandException {
    count = Numbers.parse(NAME, "-C", argument, Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (count < 0) {
      throw new CommandException("Invalid count " + count, EINVAL, null);
    }
    debug("count " + count);
  }

  private void debug(String text) {
    if (debug) {
      out.println(text);
    }
  }

  private InetAddress host(String text) throws CommandException {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      out.println("getaddrinfo failed (Name or service not known) - invalid hostname or IP address");
      throw new CommandException(NAME + ": " + text + " is no host name and no address", NO_NAME, e);
    }
  }

  boolean server() {
    return server;
  }

  /** The server's address, to listen on or connect to; null for any, which is the own host for a client. */
  InetAddress address() {
    return address;
  }

  /** The client's own address, or null. */
  InetAddress source() {
    return source;
  }

  int port() {
    return port;
  }

  /** How many pings; 0 for no end. */
  int count() {
    return count;
  }

  /** Bytes of a ping. */
  int size() {
    return size;
  }

  boolean verbose() {
    return verbose;
  }

  boolean validate() {
    return validate;
  }

  /** Whether to tell of each step. */
  boolean debug() {
    return debug;
  }

  /** Whether to serve one connection after the other, and several at once. */
  boolean persistent() {
    return persistent;
  }

  /** Whether to make and move the queue pair without the connection manager. */
  boolean ownQp() {
    return ownQp;
  }
}
