package org.rdma4j.ulp.pingpong.pv;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** What the client does: it posts the requests of the scenario and prints what becomes of them. */
final class ActiveSide {
  private static final int IMMEDIATE = 0x01020304;
  private static final int WRONG_KEY = 0x55;
  private static final int BEGUN = 10;
  private static final Duration RNR_TIME = Duration.ofMillis(300);

  private final Endpoint endpoint;
  private final PvOptions options;
  private final Exchange exchange;
  private final long address;
  private final int key;

  ActiveSide(Endpoint endpoint, PvOptions options, Exchange exchange) {
    this.endpoint = endpoint;
    this.options = options;
    this.exchange = exchange;
    address = endpoint.remoteAddress();
    key = endpoint.remoteKey();
  }

  void work() throws IOException {
    int window = hasWindow() ? hearWindow() : 0;
    int second = options.scenario().matches("window-[12]") ? workFirstWindow(window) : 0;
    if (options.scenario().equals("send-both")) {
      endpoint.postReceives(options.sizes().size(), Collections.max(options.sizes()));
    }
    exchange.hear();
    if (options.scenario().equals("until-error")) {
      workUntilError();
      return;
    }
    try {
      work(PvCommand.operation(options.scenario()), window, second);
    } catch (PostException e) {
      endpoint.say("refused: " + e.getMessage());
    } finally {
      exchange.tell(Map.of("done", 1));
    }
  }

  private void workUntilError() {
    int size = options.sizes().getFirst();
    endpoint.fill(0, size);
    int writes = 0;
    while (true) {
      endpoint.post(1, remote(WrOpcode.RDMA_WRITE, key, address), size, 0);
      if (!endpoint.drainQuietly()) {
        break;
      }
      writes++;
      if (writes == BEGUN) {
        endpoint.say("working");
      }
    }
    endpoint.say(writes + " writes were well");
  }

  private boolean hasWindow() {
    return options.scenario().equals("send-inv") || options.scenario().startsWith("window-");
  }

  private int hearWindow() throws IOException {
    return (int) Long.parseLong(exchange.hear().get("mw"));
  }

  /** Through the window there, and back to another place of the buffer. Returns the key that comes after the first. */
  private int workFirstWindow(int window) throws IOException {
    int size = options.sizes().getFirst();
    endpoint.fill(0, size);
    one(1, remote(WrOpcode.RDMA_WRITE, window, address), size);
    endpoint.post(2, remote(WrOpcode.RDMA_READ, window, address), size, Endpoint.WINDOW);
    endpoint.drain(1);
    boolean same = Arrays.equals(endpoint.bytes(0, size), endpoint.bytes(Endpoint.WINDOW, size));
    endpoint.say(same ? "read what was written" : "read something else");
    exchange.tell(Map.of("go", 1));
    return hearWindow();
  }

  private void work(String operation, int window, int second) throws IOException {
    int size = options.sizes().getFirst();
    switch (operation) {
      case "send", "gone", "long-send", "rnr-exceeded", "bad-qkey", "bad-qpn" -> each(i -> request(WrOpcode.SEND));
      case "send-both" -> {
        exchange.tell(Map.of("go", 1));
        endpoint.sendBoth();
        exchange.hear();
      }
      case "send-imm" -> each(i -> request(WrOpcode.SEND_WITH_IMM).immediate(IMMEDIATE + i));
      case "write" -> each(i -> remote(WrOpcode.RDMA_WRITE, key, address + endpoint.slot(i)));
      case "write-imm" -> each(
          i -> remote(WrOpcode.RDMA_WRITE_WITH_IMM, key, address + endpoint.slot(i)).immediate(IMMEDIATE + i));
      case "read" -> {
        post(i -> remote(WrOpcode.RDMA_READ, key, address + endpoint.slot(i)));
        endpoint.check();
      }
      case "atomics" -> atomics();
      case "rnr" -> {
        endpoint.fill(0, size);
        endpoint.post(1, request(WrOpcode.SEND), size, 0);
        endpoint.drain(1, RNR_TIME); // the RNR NAKs: nothing can complete yet
        exchange.tell(Map.of("go", 1));
        endpoint.drain(1);
      }
      case "bad-atomic" -> one(1, remote(WrOpcode.ATOMIC_FETCH_AND_ADD, key, address + 4).compareAdd(5), 8);
      case "bad-rkey" -> one(1, remote(WrOpcode.RDMA_WRITE, key ^ WRONG_KEY, address), size);
      case "bad-rkey-read" -> one(1, remote(WrOpcode.RDMA_READ, key ^ WRONG_KEY, address), size);
      case "bad-range" -> one(1, remote(WrOpcode.RDMA_WRITE, key, address + Endpoint.BUFFER - size + 1), size);
      case "no-access" -> one(1, remote(WrOpcode.RDMA_WRITE, key, address), size);
      case "send-inv" -> {
        one(1, remote(WrOpcode.RDMA_WRITE, window, address), 100);
        one(2, request(WrOpcode.SEND_WITH_INV).invalidateRkey(window), 32);
        one(3, remote(WrOpcode.RDMA_WRITE, window, address), 100);
      }
      case "window-1", "window-2" -> {
        one(3, remote(WrOpcode.RDMA_WRITE, second, address + Endpoint.WINDOW), size);
        one(4, remote(WrOpcode.RDMA_WRITE, window, address), size);
      }
      case "window-range" -> one(1, remote(WrOpcode.RDMA_WRITE, window, address + Endpoint.WINDOW - size + 1), size);
      case "window-access" -> one(1, remote(WrOpcode.RDMA_READ, window, address), size);
      default -> throw new ScenarioFailed("no scenario " + options.scenario());
    }
  }

  private void atomics() {
    List<SendWorkRequest> requests =
        List.of(
            remote(WrOpcode.ATOMIC_FETCH_AND_ADD, key, address).compareAdd(5),
            remote(WrOpcode.ATOMIC_CMP_AND_SWP, key, address).compareAdd(45).swap(1000),
            remote(WrOpcode.ATOMIC_CMP_AND_SWP, key, address).compareAdd(45).swap(2000));
    for (int i = 0; i < requests.size(); i++) {
      one(i + 1, requests.get(i), Long.BYTES);
      endpoint.say("old value: " + endpoint.value());
    }
  }

  private static SendWorkRequest request(WrOpcode opcode) {
    return new SendWorkRequest().opcode(opcode);
  }

  private static SendWorkRequest remote(WrOpcode opcode, int rkey, long remoteAddress) {
    return request(opcode).rkey(rkey).remoteAddress(remoteAddress);
  }

  private void one(long wrId, SendWorkRequest request, int size) {
    endpoint.post(wrId, request, size, 0);
    endpoint.drain(1);
  }

  /** A request per message, whose bytes are filled in first. */
  private void each(IntFunction<SendWorkRequest> requests) {
    for (int i = 0; i < options.sizes().size(); i++) {
      endpoint.fill(i, options.sizes().get(i));
    }
    post(requests);
  }

  private void post(IntFunction<SendWorkRequest> requests) {
    List<Integer> sizes = options.sizes();
    for (int i = 0; i < sizes.size(); i++) {
      endpoint.post(i + 1, requests.apply(i), sizes.get(i), endpoint.slot(i));
      if (!options.burst()) {
        endpoint.drain(1);
      }
    }
    if (options.burst()) {
      endpoint.drain(sizes.size());
    }
  }
}
