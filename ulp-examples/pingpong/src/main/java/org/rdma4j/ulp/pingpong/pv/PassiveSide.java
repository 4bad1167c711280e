package org.rdma4j.ulp.pingpong.pv;

import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;

/** What the server does: it prepares its side, lets the client work and tells what came of it. */
final class PassiveSide {
  private static final long BIND = 50;
  private static final long INVALIDATE = 51;
  private static final long BIND_AGAIN = 52;
  private static final long INITIAL_VALUE = 40;
  private static final Duration MOMENT = Duration.ofMillis(200);
  // their error breaks the server's queue pair: a receive is posted to see it flushed
  private static final Set<String> BREAKING =
      Set.of(
          "bad-rkey", "bad-rkey-read", "bad-range", "no-access", "bad-atomic", "long-send", "send-inv", "window-1",
          "window-2", "window-range", "window-access");

  private final Endpoint endpoint;
  private final PvOptions options;
  private final Exchange exchange;
  private final String operation;

  PassiveSide(Endpoint endpoint, PvOptions options, Exchange exchange) {
    this.endpoint = endpoint;
    this.options = options;
    this.exchange = exchange;
    operation = PvCommand.operation(options.scenario());
  }

  void serve() throws IOException {
    List<Integer> sizes = options.sizes();
    int largest = Collections.max(sizes);
    int expected = 0;
    switch (operation) {
      case "send", "send-imm", "write-imm" -> {
        endpoint.postReceives(sizes.size(), largest);
        expected = sizes.size();
      }
      case "bad-qkey", "bad-qpn", "send-both" -> endpoint.postReceives(sizes.size(), largest);
      case "long-send" -> endpoint.postReceives(1, sizes.getFirst() - 1);
      case "send-inv" -> {
        int window = endpoint.bindWindow(MwType.TYPE_2, BIND, 0, Access.REMOTE_WRITE);
        endpoint.postReceives(2, Endpoint.WINDOW);
        tellWindow(window);
        expected = 1;
      }
      case "window-range" -> {
        endpoint.postReceives(1, largest);
        tellWindow(endpoint.bindWindow(MwType.TYPE_2, BIND, 0, Access.REMOTE_WRITE, Access.REMOTE_READ));
      }
      case "window-access" -> {
        endpoint.postReceives(1, largest);
        tellWindow(endpoint.bindWindow(MwType.TYPE_2, BIND, 0, Access.REMOTE_WRITE));
      }
      case "window-1" -> bindTwice(MwType.TYPE_1);
      case "window-2" -> bindTwice(MwType.TYPE_2);
      case "atomics" -> endpoint.value(INITIAL_VALUE);
      case "read" -> {
        for (int i = 0; i < sizes.size(); i++) {
          endpoint.fill(i, sizes.get(i));
        }
      }
      case "gone" -> endpoint.destroyQueuePair();
      default -> {
        if (BREAKING.contains(operation)) {
          endpoint.postReceives(1, largest);
        }
      }
    }
    exchange.tell(Map.of("ready", 1));
    if (operation.equals("rnr")) {
      exchange.hear();
      endpoint.postReceives(sizes.size(), largest);
      expected = sizes.size();
    }
    if (operation.equals("send-both")) {
      exchange.hear();
      endpoint.sendBoth();
      exchange.tell(Map.of("done", 1));
    }
    endpoint.drain(expected);
    if (operation.equals("until-error")) {
      exchange.awaitEnd();
    } else {
      exchange.hear();
      report();
    }
  }

  private void bindTwice(MwType type) throws IOException {
    endpoint.postReceives(1, Endpoint.WINDOW);
    int first = endpoint.bindWindow(type, BIND, 0, Access.REMOTE_WRITE, Access.REMOTE_READ);
    tellWindow(first);
    exchange.hear();
    if (type == MwType.TYPE_2) {
      endpoint.invalidate(INVALIDATE, first);
    }
    tellWindow(endpoint.bindWindow(type, BIND_AGAIN, Endpoint.WINDOW, Access.REMOTE_WRITE, Access.REMOTE_READ));
  }

  private void tellWindow(int key) throws IOException {
    exchange.tell(Map.of("mw", Integer.toUnsignedLong(key)));
  }

  private void report() {
    if (BREAKING.contains(operation)) {
      endpoint.drain(1);
      endpoint.say("qp state " + endpoint.state().number());
    }
    switch (operation) {
      case "bad-qkey", "bad-qpn" -> endpoint.drain(1, MOMENT);
      case "atomics" -> endpoint.say("value at the end: " + endpoint.value());
      case "send", "send-imm", "write", "write-imm", "rnr" -> endpoint.check();
      default -> { }
    }
    if (endpoint.type() == QpType.UD && operation.startsWith("send")) {
      endpoint.say("the 40 bytes before the payload: " + HexFormat.of().formatHex(endpoint.bytes(0, Endpoint.GRH)));
    }
  }
}
