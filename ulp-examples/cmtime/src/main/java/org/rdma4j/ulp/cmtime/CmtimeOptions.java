package org.rdma4j.ulp.cmtime;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/**
 * What was typed after {@code cmtime}, over its defaults.
 *
 * @param server the server to connect to; null for a server
 * @param bind the own address, or null
 * @param connections how many connections
 * @param port the server's port
 * @param retries how often address and route are resolved again, and the retry count of the queue pairs
 * @param timeoutMillis how long resolving an address or a route may take
 */
record CmtimeOptions(String server, String bind, int connections, int port, int retries, int timeoutMillis) {
  private static final String NAME = "cmtime";
  private static final String OPTIONS = "sbcprt";
  private static final int MAX_PORT = 65535;

  /**
   * Reads a command line.
   *
   * @throws UsageException where it is not understood
   */
  static CmtimeOptions parse(String... arguments) throws UsageException {
    String server = null;
    String bind = null;
    int connections = 100;
    int port = 7471;
    int retries = 2;
    int timeout = 2000;
    Getopt.Result result = getopt().parse(arguments);
    for (Getopt.Given given : result.options()) {
      String value = given.argument();
      switch (given.letter()) {
        case 's' -> server = value;
        case 'b' -> bind = value;
        case 'c' -> connections = Numbers.parse(NAME, "-c", value, 0, Integer.MAX_VALUE);
        case 'p' -> port = Numbers.parse(NAME, "-p", value, 0, MAX_PORT);
        case 'r' -> retries = Numbers.parse(NAME, "-r", value, 0, Integer.MAX_VALUE);
        default -> timeout = Numbers.parse(NAME, "-t", value, 0, Integer.MAX_VALUE);
      }
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    return new CmtimeOptions(server, bind, connections, port, retries, timeout);
  }

  private static Getopt getopt() {
    List<Getopt.Option> options = new ArrayList<>();
    OPTIONS.chars().forEach(letter -> options.add(new Getopt.Option((char) letter, null, true)));
    return new Getopt(NAME, options.toArray(new Getopt.Option[0]));
  }
}
