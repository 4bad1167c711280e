package org.rdma4j.ulp.pingpong;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** What was typed after the name of a ping-pong program, over its defaults. */
final class PingpongOptions {
  /** One more than the most queue pairs {@code ibv_srq_pingpong} can have. */
  static final int MAX_QP = 256;

  private static final int MAX_PORT = 65535;
  private static final int MAX_IB_PORT = 255;
  private static final int MAX_SERVICE_LEVEL = 15;

  private final Program program;
  private int port = 18515;
  private String device;
  private int ibPort = 1;
  private int size;
  private PathMtu mtu = PathMtu.MTU_1024;
  private int receiveDepth = 500;
  private int iterations = 1000;
  private int queuePairs = 1;
  private int serviceLevel;
  private int gidIndex = -1;
  private boolean events;
  private boolean check;
  private boolean newSend;
  private boolean onDemand;
  private boolean prefetch;
  private boolean timestamps;
  private boolean deviceMemory;
  private boolean help;
  private String server;

  private PingpongOptions(Program program) {
    this.program = program;
    this.size = program.defaultSize();
    if (program == Program.SRQ) {
      queuePairs = 16;
    }
  }

  /**
   * Reads a command line.
   *
   * @throws UsageException where it is not understood
   * @throws CommandException where it asks for what does not go together
   */
  static PingpongOptions parse(Program program, String... arguments) throws UsageException, CommandException {
    PingpongOptions options = new PingpongOptions(program);
    Getopt.Result result = getopt(program).parse(arguments);
    for (Getopt.Given given : result.options()) {
      options.set(given.letter(), given.argument());
    }
    if (result.operands().size() > 1) {
      throw new UsageException(program.command() + ": too many operands: " + String.join(" ", result.operands()));
    }
    if (!result.operands().isEmpty()) {
      options.server = result.operands().getFirst();
    }
    options.check();
    return options;
  }

  private static Getopt getopt(Program program) {
    List<Getopt.Option> options =
        new ArrayList<>(
            List.of(
                new Getopt.Option('p', "port", true),
                new Getopt.Option('d', "ib-dev", true),
                new Getopt.Option('i', "ib-port", true),
                new Getopt.Option('s', "size", true),
                new Getopt.Option('r', "rx-depth", true),
                new Getopt.Option('n', "iters", true),
                new Getopt.Option('l', "sl", true),
                new Getopt.Option('e', "events", false),
                new Getopt.Option('g', "gid-idx", true),
                new Getopt.Option('c', "chk", false),
                new Getopt.Option('h', "help", false)));
    if (program != Program.UD) {
      options.add(new Getopt.Option('m', "mtu", true));
    }
    if (program == Program.SRQ) {
      options.add(new Getopt.Option('q', "num-qp", true));
      options.add(new Getopt.Option('o', "odp", false));
    }
    if (program == Program.RC) {
      options.add(new Getopt.Option('o', "odp", false));
      options.add(new Getopt.Option('O', "iodp", false));
      options.add(new Getopt.Option('P', "prefetch", false));
      options.add(new Getopt.Option('t', "ts", false));
      options.add(new Getopt.Option('j', "dm", false));
      options.add(new Getopt.Option('N', "new_send", false));
    }
    return new Getopt(program.command(), options.toArray(new Getopt.Option[0]));
  }

  private void set(char letter, String argument) throws UsageException {
    switch (letter) {
      case 'p' -> port = number("-p", argument, 0, MAX_PORT);
      case 'd' -> device = argument;
      case 'i' -> ibPort = number("-i", argument, 1, MAX_IB_PORT);
      case 's' -> size = number("-s", argument, program == Program.SRQ ? 1 : 0, Integer.MAX_VALUE - 40);
      case 'm' -> mtu = mtu(argument);
      case 'r' -> receiveDepth = number("-r", argument, 1, Integer.MAX_VALUE - MAX_QP);
      case 'n' -> iterations = number("-n", argument, 0, Integer.MAX_VALUE);
      case 'q' -> queuePairs = number("-q", argument, 1, Integer.MAX_VALUE);
      case 'l' -> serviceLevel = number("-l", argument, 0, MAX_SERVICE_LEVEL);
      case 'g' -> gidIndex = number("-g", argument, -1, Integer.MAX_VALUE);
      case 'e' -> events = true;
      case 'c' -> check = true;
      case 'N' -> newSend = true;
      case 'o', 'O' -> onDemand = true;
      case 'P' -> prefetch = true;
      case 't' -> timestamps = true;
      case 'j' -> deviceMemory = true;
      default -> help = true;
    }
  }

  private int number(String option, String text, int min, int max) throws UsageException {
    return Numbers.parse(program.command(), option, text, min, max);
  }

  private PathMtu mtu(String text) throws UsageException {
    int bytes = number("-m", text, 256, 4096);
    try {
      return PathMtu.ofBytes(bytes);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          program.command() + ": invalid argument '" + text + "' for -m: 256, 512, 1024, 2048 or 4096");
    }
  }

  private void check() throws CommandException {
    if (onDemand && deviceMemory) {
      throw new CommandException("DM memory region can't be on demand");
    }
    if (prefetch && !onDemand) {
      throw new CommandException("prefetch is valid only with on-demand memory region");
    }
    if (program == Program.SRQ && queuePairs > receiveDepth) {
      throw new CommandException(
          "rx_depth " + receiveDepth + " is too small for " + queuePairs
              + " QPs -- must have at least one receive per QP.");
    }
    if (queuePairs >= MAX_QP) {
      throw new CommandException("num_qp " + queuePairs + " must be less than " + (MAX_QP - 1));
    }
  }

  /**
   * Refuses what no device here can do, as the original does with such a device.
   *
   * @throws CommandException where it was asked for
   */
  void refuseUnsupported() throws CommandException {
    if (onDemand && program == Program.SRQ) {
      throw new CommandException(
          "The device isn't ODP capable or does not support RC send, receive and srq with ODP");
    }
    if (onDemand) {
      throw new CommandException("The device isn't ODP capable or does not support RC send and receive with ODP");
    }
    if (timestamps) {
      throw new CommandException("The device isn't completion timestamp capable");
    }
    if (deviceMemory) {
      throw new CommandException("Device doesn't support dm allocation");
    }
  }

  Program program() {
    return program;
  }

  /** The TCP port of the exchange. */
  int port() {
    return port;
  }

  /** The device asked for, or null for the first. */
  String device() {
    return device;
  }

  int ibPort() {
    return ibPort;
  }

  /** Bytes of a message. */
  int size() {
    return size;
  }

  PathMtu mtu() {
    return mtu;
  }

  int receiveDepth() {
    return receiveDepth;
  }

  int iterations() {
    return iterations;
  }

  int queuePairs() {
    return queuePairs;
  }

  int serviceLevel() {
    return serviceLevel;
  }

  /** The index of the local GID, -1 for none. */
  int gidIndex() {
    return gidIndex;
  }

  /** Whether to sleep until a completion event. */
  boolean events() {
    return events;
  }

  /** Whether to validate what was received. */
  boolean checked() {
    return check;
  }

  /** Whether to post in the style of {@code ibv_wr_start}. */
  boolean newSend() {
    return newSend;
  }

  boolean help() {
    return help;
  }

  /** The host to connect to; null for a server. */
  String server() {
    return server;
  }
}
