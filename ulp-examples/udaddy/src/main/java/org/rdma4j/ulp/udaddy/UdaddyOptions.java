package org.rdma4j.ulp.udaddy;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/**
 * What was typed after {@code udaddy}, over its defaults.
 *
 * @param server the server whose service to resolve; null for a server
 * @param bind the own address, or null
 * @param addresses how addresses are written
 * @param portSpace the number of the port space
 * @param connections how many queue pairs
 * @param messages how many messages each way with each
 * @param size bytes of a message
 * @param typeOfService type of service, or -1
 * @param warnings what is said of words that are not known
 */
record UdaddyOptions(
    String server,
    String bind,
    Format addresses,
    int portSpace,
    int connections,
    int messages,
    int size,
    int typeOfService,
    List<String> warnings) {
  /** The server's port; there is no option for it. */
  static final int PORT = 7174;

  /** Number of the port space for datagrams of queue pairs. */
  static final int UDP = 0x111;

  /** Number of the port space of IP over InfiniBand. */
  static final int IPOIB = 0x2;

  private static final String NAME = "udaddy";
  private static final int MAX_BYTE = 255;
  private static final String OPTIONS = "sbcCStpPf";

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
  static UdaddyOptions parse(String... arguments) throws UsageException {
    String server = null;
    String bind = null;
    Format format = Format.NAME;
    int portSpace = UDP;
    int connections = 1;
    int messages = 10;
    int size = 100;
    int typeOfService = -1;
    List<String> warnings = new ArrayList<>();
    Getopt.Result result = getopt().parse(arguments);
    for (Getopt.Given given : result.options()) {
      String value = given.argument();
      switch (given.letter()) {
        case 's' -> server = value;
        case 'b' -> bind = value;
        case 'f' -> format = format(value, warnings);
        case 'P' -> portSpace = portSpace(value, portSpace, warnings);
        case 'p' -> portSpace = number("-p", value, 0, Integer.MAX_VALUE);
        case 'c' -> connections = number("-c", value, 0, Integer.MAX_VALUE);
        case 'C' -> messages = number("-C", value, 0, Integer.MAX_VALUE);
        case 'S' -> size = number("-S", value, 0, Integer.MAX_VALUE);
        default -> typeOfService = number("-t", value, 0, MAX_BYTE);
      }
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    return new UdaddyOptions(
        server, bind, format, portSpace, connections, size == 0 ? 0 : messages, size, typeOfService,
        List.copyOf(warnings));
  }

  private static Getopt getopt() {
    List<Getopt.Option> options = new ArrayList<>();
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

  private static int portSpace(String text, int before, List<String> warnings) {
    String word = text.toLowerCase(Locale.ROOT);
    if (word.startsWith("ipoib")) {
      return IPOIB;
    }
    if (!word.startsWith("udp")) {
      warnings.add("Warning: unknown port space format");
    }
    return before;
  }

  private static int number(String option, String text, int min, int max) throws UsageException {
    return Numbers.parse(NAME, option, text, min, max);
  }
}
