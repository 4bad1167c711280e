package org.rdma4j.ulp.pingpong.pv;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What was asked for on the command line; both sides get the same scenario and options.
 *
 * @param server whether this is the passive side
 * @param scenario which one
 * @param device name of the device
 * @param host where the passive side is
 * @param port TCP port of the exchange
 * @param patience how long to wait for the other side, or for a completion
 * @param gidIndex index of the source GID
 * @param mtu path MTU in bytes
 * @param sizes bytes of each message
 * @param burst whether to post all requests at once
 * @param entries over how many entries to gather or scatter the local side
 * @param timeout local ACK timeout exponent
 * @param retryCount transport retries
 * @param rnrTimer minimum RNR NAK timer code of the responder
 */
record PvOptions(
    boolean server,
    String scenario,
    String device,
    String host,
    int port,
    Duration patience,
    int gidIndex,
    int mtu,
    List<Integer> sizes,
    boolean burst,
    int entries,
    int timeout,
    int retryCount,
    int rnrTimer) {

  static final String HELP =
      """
      Usage: pv server|client SCENARIO [options]

        --device NAME     device (default rxe0)
        --host HOST       where the server is (default 192.0.2.2)
        --port PORT       TCP port of the exchange (default 18600)
        --wait S          seconds to wait for the other side, or a completion (default 20)
        --gid INDEX       GID index (default 1)
        --mtu BYTES       path MTU (default 1024)
        --sizes N,N,...   a message each (default 1024)
        --burst           post all requests at once
        --sge N           gather or scatter the local side over so many entries (default 1)
        --timeout N       local ACK timeout exponent (default 14)
        --retry N         transport retries (default 7: for ever)
        --rnr-timer CODE  min_rnr_timer of the responder (default 12)

      Scenarios: send write write-imm read send-imm send-inv send-both atomics window-1 window-2
      window-range window-access rnr rnr-exceeded bad-rkey bad-rkey-read bad-range no-access long-send bad-atomic
      gone until-error (RC);
      uc-send uc-write uc-write-imm uc-send-imm; ud-send ud-send-imm ud-bad-qkey ud-bad-qpn;
      mcast, without an exchange: the server has two members in the group HOST, the client sends to it""";

  static PvOptions parse(List<String> arguments) {
    List<String> words = new ArrayList<>();
    String device = "rxe0";
    String host = "192.0.2.2";
    int port = 18600;
    double patience = 20;
    int gidIndex = 1;
    int mtu = 1024;
    List<Integer> sizes = List.of(1024);
    boolean burst = false;
    int entries = 1;
    int timeout = 14;
    int retryCount = 7;
    int rnrTimer = 12;
    for (var each = arguments.iterator(); each.hasNext(); ) {
      String word = each.next();
      if (word.startsWith("--") && !word.equals("--burst") && !each.hasNext()) {
        throw new ScenarioFailed(word + " needs a value");
      }
      switch (word) {
        case "--burst" -> burst = true;
        case "--device" -> device = each.next();
        case "--host" -> host = each.next();
        case "--port" -> port = number(each.next());
        case "--wait" -> patience = Double.parseDouble(each.next());
        case "--gid" -> gidIndex = number(each.next());
        case "--mtu" -> mtu = number(each.next());
        case "--sizes" -> sizes = Stream.of(each.next().split(",")).map(PvOptions::number).toList();
        case "--sge" -> entries = number(each.next());
        case "--timeout" -> timeout = number(each.next());
        case "--retry" -> retryCount = number(each.next());
        case "--rnr-timer" -> rnrTimer = number(each.next());
        default -> words.add(word);
      }
    }
    if (words.size() != 2 || !List.of("server", "client").contains(words.getFirst())) {
      throw new ScenarioFailed("not understood: " + String.join(" ", arguments) + "\n" + HELP);
    }
    return new PvOptions(
        words.getFirst().equals("server"),
        words.getLast(),
        device,
        host,
        port,
        Duration.ofMillis((long) (patience * 1000)),
        gidIndex,
        mtu,
        sizes,
        burst,
        entries,
        timeout,
        retryCount,
        rnrTimer);
  }

  String role() {
    return server ? "server" : "client";
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new ScenarioFailed("not a number: " + text);
    }
  }
}
