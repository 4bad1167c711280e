package org.rdma4j.ulp.pingpong.pv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ExchangeTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @Test
  void bothSidesHearWhatTheOtherTells() throws IOException {
    int port = freePort();
    var passive = CompletableFuture.supplyAsync(() -> answer(port));
    try (Exchange active = Exchange.connect("127.0.0.1", port, PATIENCE)) {
      active.tell(Map.of("qpn", 17, "gid", "fe80::1"));
      assertEquals(Map.of("rkey", "4294967295"), active.hear());
      assertThrows(ScenarioFailed.class, active::hear, "the other side has gone");
    }
    assertEquals(Map.of("qpn", "17", "gid", "fe80::1"), passive.join());
  }

  @Test
  void whatPythonWritesIsUnderstood() throws IOException {
    try (ServerSocket listener = new ServerSocket(0);
        Exchange active = Exchange.connect("127.0.0.1", listener.getLocalPort(), PATIENCE);
        Socket python = listener.accept()) {
      String line = "{\"scenario\": \"send\", \"qpn\": 18, \"addr\": 140225146011648}\n";
      python.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
      assertEquals(Map.of("scenario", "send", "qpn", "18", "addr", "140225146011648"), active.hear());
    }
  }

  @Test
  void nobodyThereIsSaid() {
    assertThrows(ScenarioFailed.class, () -> Exchange.accept(freePort(), Duration.ofMillis(10)));
    assertThrows(ScenarioFailed.class, () -> Exchange.connect("127.0.0.1", freePort(), Duration.ZERO));
  }

  private static Map<String, String> answer(int port) {
    try (Exchange exchange = Exchange.accept(port, PATIENCE)) {
      Map<String, String> heard = exchange.hear();
      exchange.tell(Map.of("rkey", 0xffffffffL));
      return heard;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
