package org.rdma4j.ulp.mckey;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/**
 * What was typed after {@code mckey}, over its defaults.
 *
 * @param group the group, as address, name or, where unmapped, as GID
 * @param unmapped whether the group is a GID
 * @param sender whether to send to the group; else to receive
 * @param bind the own address, or null
 * @param connections how many queue pairs
 * @param messages how many messages to each, or by each
 * @param size bytes of a message
 * @param portSpace the number of the port space
 * @param sendOnly whether to join as one who only sends
 * @param loopback whether what is sent comes to members on the own host, too
 */
record MckeyOptions(
    String group,
    boolean unmapped,
    boolean sender,
    String bind,
    int connections,
    int messages,
    int size,
    int portSpace,
    boolean sendOnly,
    boolean loopback) {
  /** Number of the port space for datagrams of queue pairs. */
  static final int UDP = 0x111;

  /** Number of the port space of IP over InfiniBand. */
  static final int IPOIB = 0x2;

  private static final String NAME = "mckey";
  private static final String WITH_VALUE = "mMbcCSp";
  private static final String FLAGS = "sol";

  /**
   * Reads a command line.
   *
   * @throws UsageException where it is not understood
   */
  static MckeyOptions parse(String... arguments) throws UsageException {
    String group = null;
    boolean unmapped = false;
    boolean sender = false;
    String bind = null;
    int connections = 1;
    int messages = 10;
    int size = 100;
    int portSpace = UDP;
    boolean sendOnly = false;
    boolean loopback = true;
    Getopt.Result result = getopt().parse(arguments);
    for (Getopt.Given given : result.options()) {
      String value = given.argument();
      switch (given.letter()) {
        case 'm' -> group = value;
        case 'M' -> {
          unmapped = true;
          group = value;
        }
        case 's' -> sender = true;
        case 'b' -> bind = value;
        case 'c' -> connections = number("-c", value);
        case 'C' -> messages = number("-C", value);
        case 'S' -> size = number("-S", value);
        case 'p' -> portSpace = number("-p", value);
        case 'o' -> sendOnly = true;
        default -> loopback = false;
      }
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    if (group == null) {
      throw new UsageException(NAME + ": a multicast address (-m) is needed");
    }
    return new MckeyOptions(
        group, unmapped, sender, bind, connections, size == 0 ? 0 : messages, size, portSpace, sendOnly, loopback);
  }

  private static Getopt getopt() {
    List<Getopt.Option> options = new ArrayList<>();
    WITH_VALUE.chars().forEach(letter -> options.add(new Getopt.Option((char) letter, null, true)));
    FLAGS.chars().forEach(letter -> options.add(new Getopt.Option((char) letter, null, false)));
    return new Getopt(NAME, options.toArray(new Getopt.Option[0]));
  }

  private static int number(String option, String text) throws UsageException {
    return Numbers.parse(NAME, option, text, 0, Integer.MAX_VALUE);
  }
}
