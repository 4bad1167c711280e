package org.rdma4j.roce.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

/** The fabric in real time, over IPv6, keeps the contract of a link; two threads can use it. */
class FabricRealTimeTest extends LinkContractTest {
  private final Fabric fabric = new Fabric(1, Clock.SYSTEM);

  @Override
  Link newLink() {
    return fabric.endpoint();
  }

  @Override
  Gid address(int number) {
    return new Gid(0x2001_0db8_0000_0000L, number);
  }

  @Test
  void twoThreadsExchangePackets() throws InterruptedException {
    fabric.faults(FaultPlan.NONE.withDelay(20_000, 10_000));
    Link a = open(address(1));
    Link b = open(address(2));
    int rounds = 2000;
    Thread echo = Thread.ofPlatform().start(() -> exchange(b, address(2), address(1), rounds, false));
    exchange(a, address(1), address(2), rounds, true);
    echo.join(TimeUnit.SECONDS.toMillis(20));
    assertFalse(echo.isAlive());
    assertEquals(2L * rounds, fabric.statistics().delivered());
  }

  private static void exchange(Link link, Gid from, Gid to, int rounds, boolean first) {
    Route route = link.route(from, to, 0, 0, 64);
    int got = 0;
    for (int i = 0; i < rounds; i++) {
      if (first) {
        put(link, route, new byte[32]);
        link.flush();
      }
      while (got <= i) {
        link.await(TimeUnit.SECONDS.toNanos(5));
        got += link.receive(packet -> {}, 8);
      }
      if (!first) {
        put(link, route, new byte[32]);
        link.flush();
      }
    }
  }
}
