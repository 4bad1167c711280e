package org.rdma4j.ulp.ucmatose;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/**
 * What was typed after {@code ucmatose}, over its defaults.
 *
 * @param server the server to connect to; null for a server
 * @param bind the own address, or null
 * @param addresses how addresses are written
 * @param infiniband whether the port space is that of InfiniBand
 * @param connections how many connections
 * @param messages how many messages each way over each connection
 * @param size bytes of a message
 * @param typeOfService type of service, or -1
 * @param port the server's port
 * @param migrate whether to move to another event channel
 * @param ackTimeout exponent of the local ACK timeout, or -1
 * @param warnings what is said of words that are not known
 */
record UcmatoseOptions(
    String server,
    String bind,
    Format addresses,
    boolean infiniband,
    int connections,
    int messages,
    int size,
    int typeOfService,
    int port,
    boolean migrate,
    int ackTimeout,
    List<String> warnings) {
  private static final String NAME = "ucmatose";
  private static final int MAX_PORT = 65535;
  private static final int MAX_BYTE = 255;
  private static final String OPTIONS = "sbfPcCStpa";

  /** How addresses are written. */
  enum Format {
    /** As host names or numbers. */
    NAME,
    /** As numbers only. */
    NUMBER,
    /** As GIDs. */
    GID
  }

  /**
   * Reads a command line.
   *
   * @throws UsageException where it is not understood
   */
  static UcmatoseOptions parse(String... arguments) throws UsageException {
    String server = null;
    String bind = null;
    Format format = Format.NAME;
    boolean infiniband = false;
    int connections = 1;
    int messages = 10;
    int size = 100;
    int typeOfService = -1;
    int port = 7471;
    boolean migrate = false;
    int ackTimeout = -1;
    List<String> warnings = new ArrayList<>();
    Getopt.Result result = getopt().parse(arguments);
    for (Getopt.Given given : result.options()) {
      String value = given.argument();
      switch (given.letter()) {
        case 's' -> server = value;
        case 'b' -> bind = value;
        case 'f' -> format = format(value, warnings);
        case 'P' -> infiniband = infiniband(value, warnings);
        case 'c' -> connections = number("-c", value, 0, Integer.MAX_VALUE);
        case 'C' -> messages = number("-C", value, 0, Integer.MAX_VALUE);
        case 'S' -> size = number("-S", value, 0, Integer.MAX_VALUE);
        case 't' -> typeOfService = number("-t", value, 0, MAX_BYTE);
        case 'p' -> port = number("-p", value, 0, MAX_PORT);
        case 'a' -> ackTimeout = number("-a", value, 0, MAX_BYTE);
        default -> migrate = true;
      }
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    return new UcmatoseOptions(
        server, bind, format, infiniband, connections, size == 0 ? 0 : messages, size, typeOfService, port, migrate,
        ackTimeout, List.copyOf(warnings));
  }

  private static Getopt getopt() {
    List<Getopt.Option> options = new ArrayList<>(List.of(new Getopt.Option('m', null, false)));
    OPTIONS.chars().forEach(letter -> options.add(new Getopt.Option((char) letter, null, true)));
    return new Getopt(NAME, options.toArray(new Getopt.Option[0]));
  }

  private static Format format(String text, List<String> warnings) {
    String word = text.toLowerCase(Locale.ROOT);
    if (word.startsWith("ip")) {
      return Format.NUMBER;
    }
    if (word.startsWith("gid")) {
      return Format.GID;
    }
    if (!word.startsWith("name")) {
      warnings.add("Warning: unknown address format");
    }
    return Format.NAME;
  }

  private static boolean infiniband(String text, List<String> warnings) {
    String word = text.toLowerCase(Locale.ROOT);
    if (!word.startsWith("ib") && !word.startsWith("tcp")) {
      warnings.add("Warning: unknown port space format");
    }
    return word.startsWith("ib");
  }

  private static int number(String option, String text, int min, int max) throws UsageException {
    return Numbers.parse(NAME, option, text, min, max);
  }
}
