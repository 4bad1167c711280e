package org.rdma4j.it.peer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One run of an {@code ibv_*_pingpong}: the same words on both sides, and what either must print when it went well.
 *
 * @param tool rc, uc, ud or srq
 * @param mtu path MTU in bytes, 0 where the tool has no such option
 * @param size bytes of a message
 * @param iterations exchanges
 * @param events whether to sleep on completion events instead of polling
 * @param port TCP port of the exchange
 */
record Pingpong(String tool, int mtu, int size, int iterations, boolean events, int port) {
  static final int DEFAULT_ITERATIONS = 1000;

  private static final List<Integer> MTUS = List.of(256, 1024, 4096);
  private static final List<Integer> SIZES = List.of(1, 63, 1000, 4096, 65535, 1 << 20, 8 << 20);
  private static final int PORT_MTU = 4096;
  private static final int DEFAULT_SIZE = 4096;
  private static final int DEFAULT_MTU = 1024;
  private static final int FIRST_PORT = 18600;

  /**
   * Every size at every path MTU, large messages last; polling and events in turn, so that every size meets both; and
   * the default of 1000 exchanges, of 4096 bytes at path MTU 1024 (UD: 2048 bytes), with both. UD takes no path MTU and
   * no message longer than the port's.
   */
  static List<Pingpong> matrix(String tool) {
    List<Pingpong> all = new ArrayList<>();
    boolean ud = tool.equals("ud");
    for (int size : SIZES) {
      if (ud && size > PORT_MTU) {
        continue;
      }
      for (int mtu : ud ? List.of(0, 0) : MTUS) {
        boolean events = all.size() % 2 == 1;
        all.add(new Pingpong(tool, mtu, size, iterations(size), events, FIRST_PORT + all.size()));
      }
    }
    for (boolean events : List.of(false, true)) {
      int port = FIRST_PORT + all.size();
      all.add(new Pingpong(tool, ud ? 0 : DEFAULT_MTU, ud ? 2048 : DEFAULT_SIZE, DEFAULT_ITERATIONS, events, port));
    }
    return all;
  }

  /** An emulated guest moves some 10000 packets a second: fewer exchanges of messages of many packets. */
  private static int iterations(int size) {
    return size <= 4096 ? 20 : size <= 65535 ? 5 : size <= 1 << 20 ? 2 : 1;
  }

  /** The command of the side that serves. */
  String command(String device, int gidIndex) {
    StringBuilder text = new StringBuilder("ibv_" + tool + "_pingpong -d " + device);
    text.append(" -g ").append(gidIndex).append(" -p ").append(port);
    text.append(" -s ").append(size).append(" -n ").append(iterations).append(" -c");
    if (mtu != 0) {
      text.append(" -m ").append(mtu);
    }
    if (tool.equals("srq")) {
      text.append(" -q ").append(queuePairs());
    }
    return text.append(events ? " -e" : "").toString();
  }

  /** The command of the side that connects. */
  String command(String device, int gidIndex, String host) {
    return command(device, gidIndex) + " " + host;
  }

  private int queuePairs() {
    return size < 1 << 20 ? 4 : 2;
  }

  /** Fails unless this is the output of a run that moved all messages unharmed. */
  void check(String side, String output) {
    String text = side + ": " + this + "\n" + output;
    assertFalse(output.contains("invalid data"), text);
    assertFalse(Rdma4j.hasWarned(output), text);
    assertTrue(Pattern.compile("(?m)^" + 2L * size * iterations + " bytes in ").matcher(output).find(), text);
    assertTrue(Pattern.compile("(?m)^" + iterations + " iters in ").matcher(output).find(), text);
  }

  @Override
  public String toString() {
    String way = events ? "events" : "polling";
    return (mtu == 0 ? "" : "mtu " + mtu + ", ") + size + " bytes, " + iterations + " times, " + way;
  }
}
