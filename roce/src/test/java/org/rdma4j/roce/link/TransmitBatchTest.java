package org.rdma4j.roce.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

/** Which packets leave in one message. */
class TransmitBatchTest {
  private static final Gid HERE = Gid.parse("::ffff:127.0.0.1");
  private static final Gid THERE = Gid.parse("::ffff:127.0.0.2");
  private static final Gid ELSEWHERE = Gid.parse("::ffff:127.0.0.3");
  private static final int LENGTH = 64;

  private final TransmitBatch batch =
      new TransmitBatch(null, Arena.ofAuto().allocate(1 << 20, 64), UdpLinkConfig.ROCE_PORT, 4096, 64);

  private static LinkRoute route(Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    return new LinkRoute(null, HERE, destination, trafficClass, flowLabel, hopLimit) {
      @Override
      boolean mayBatch() {
        return true;
      }
    };
  }

  private void add(LinkRoute route, int length) {
    batch.claim(route, length);
    batch.commit();
  }

  @Test
  void packetsOfSeveralQueuePairsToOnePlaceLeaveTogether() {
    for (int i = 0; i < 8; i++) {
      add(route(THERE, 0, 0, 64), LENGTH);
    }
    add(route(THERE, 0, 0, 64), LENGTH - 4);
    assertEquals(1, batch.end());
    assertEquals(9, batch.count(0));
    assertEquals(8 * (LENGTH + 4) + LENGTH, batch.length(0));
  }

  @Test
  void whatGoesAnotherWayLeavesByItself() {
    add(route(THERE, 0, 0, 64), LENGTH);
    add(route(ELSEWHERE, 0, 0, 64), LENGTH);
    add(route(THERE, 0, 0, 64), LENGTH);
    add(route(THERE, 4, 0, 64), LENGTH);
    add(route(THERE, 4, 1, 64), LENGTH);
    add(route(THERE, 4, 1, 63), LENGTH);
    assertEquals(6, batch.end());
  }

  @Test
  void aRouteThatMayNotBatchIsNotJoined() {
    add(new LinkRoute(null, HERE, THERE, 0, 0, 64), LENGTH);
    add(route(THERE, 0, 0, 64), LENGTH);
    add(new LinkRoute(null, HERE, THERE, 0, 0, 64), LENGTH);
    assertEquals(3, batch.end());
  }

  @Test
  void aLongerPacketBeginsAMessageAndAShorterOneEndsIt() {
    add(route(THERE, 0, 0, 64), LENGTH);
    add(route(THERE, 0, 0, 64), LENGTH + 4);
    add(route(THERE, 0, 0, 64), LENGTH);
    add(route(THERE, 0, 0, 64), LENGTH);
    assertEquals(3, batch.end());
    assertEquals(2, batch.count(1));
  }
}
