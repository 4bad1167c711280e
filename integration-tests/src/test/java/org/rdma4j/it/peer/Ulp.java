package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One program of librdmacm, on a port of its own: what is typed on both sides, and what either must print when it
 * went well.
 *
 * @param name for messages
 * @param family which addresses
 * @param server words of the side that listens; {@code %s} is its address
 * @param client words of the other side; {@code %s} is the address of the server
 * @param serverSays lines of the server's output
 * @param clientSays lines of the client's output
 */
record Ulp(String name, Family family, String server, String client, List<String> serverSays, List<String> clientSays) {
  private static final int LETTERS = 'z' - 'A' + 1;
  private static final int PING_BYTES = 86;
  private static final List<String> DONE = List.of("data transfers complete", "return status 0");

  /** All that end by themselves on both sides, each on another of four ports. */
  static List<Ulp> all(Family family, int firstPort) {
    List<Ulp> all = new ArrayList<>();
    String ping = " -a %s -v -C 3 -S 100 -p " + firstPort;
    all.add(
        new Ulp("rping", family, "rping -s" + ping, "rping -c" + ping, pings("server ping data"), pings("ping data")));
    String cmatose = " %s -c 30 -C 5 -p " + (firstPort + 1);
    all.add(new Ulp("ucmatose", family, "ucmatose -b" + cmatose, "ucmatose -s" + cmatose, DONE, DONE));
    all.add(new Ulp("udaddy", family, "udaddy -b %s -c 5 -C 5", "udaddy -s %s -c 5 -C 5", DONE, DONE));
    String one = " -s %s -p " + (firstPort + 2);
    List<String> server = List.of("rdma_server: end 0");
    List<String> client = List.of("rdma_client: end 0");
    all.add(new Ulp("rdma_client", family, "rdma_server" + one, "rdma_client" + one, server, client));
    return all;
  }

  /** A thousand pings of 65535 bytes, which is the most that rping takes, each byte compared. */
  static Ulp large(Family family, int port) {
    String ping = " -a %s -V -S 65535 -C 1000 -p " + port;
    return new Ulp("rping of 65535 bytes", family, "rping -s" + ping, "rping -c" + ping, List.of(), List.of());
  }

  String server(String address) {
    return server.formatted(address);
  }

  String client(String address) {
    return client.formatted(address);
  }

  /** The lines of rping -v -C 3 -S 100: a text that moves on by one letter each time. */
  private static List<String> pings(String what) {
    return IntStream.range(0, 3).mapToObj(i -> what + ": rdma-ping-" + i + ": " + letters(i)).toList();
  }

  private static String letters(int first) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < PING_BYTES; i++) {
      text.append((char) ('A' + (first + i) % LETTERS));
    }
    return text.toString();
  }

  /** Fails unless the output has the lines of a side. */
  void check(String output, boolean ofServer) {
    for (String line : ofServer ? serverSays : clientSays) {
      assertTrue(
          output.lines().anyMatch(line::equals),
          () -> name + ", " + family + ": \"" + line + "\" is not said:\n" + output);
    }
  }
}
