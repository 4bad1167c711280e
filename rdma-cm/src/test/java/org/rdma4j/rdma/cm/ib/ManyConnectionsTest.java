package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Ten thousand connections, one after the other, some of them at once: as much is known at the end as at the begin. */
class ManyConnectionsTest {
  private static final byte[] NOTHING = {};
  private static final int CYCLES = 10_000;

  private final Pair pair = new Pair();
  private int ended;

  private CmHandler.Verdict handle(CmId id, CmEvent event) {
    switch (event) {
      case CmEvent.ReqReceived asked -> id.sendRep(Pair.rep(asked.remoteQpn() + CYCLES));
      case CmEvent.RepReceived agreed -> id.sendRtu(NOTHING);
      case CmEvent.RtuReceived ready -> id.sendDreq(NOTHING);
      case CmEvent.DreqReceived end -> id.sendDrep(NOTHING);
      case CmEvent.TimewaitExit over -> {
        ended++;
        return CmHandler.Verdict.DESTROY;
      }
      default -> {}
    }
    return CmHandler.Verdict.KEEP;
  }

  /** What is known of one connection while it is there: on each side an id, the peer's number and its queue pair. */
  @Test
  void connectAndDisconnect() {
    CmId listener = pair.b.create(pair.portB, this::handle);
    listener.listen(Pair.SERVICE);
    int ofOne = 6;
    int idle = pair.a.size() + pair.b.size();
    for (int i = 0; i < CYCLES; i++) {
      CmId active = pair.a.create(pair.portA, this::handle);
      active.sendReq(Pair.req(i + 1));
      pair.time.runUntil(pair.time.now() + 3);
      assertTrue(pair.a.size() + pair.b.size() <= idle + ofOne);
      pair.time.runAll(100);
      assertEquals(idle, pair.a.size() + pair.b.size());
      assertEquals(0, pair.portA.outstanding + pair.portB.outstanding);
    }
    assertEquals(2 * CYCLES, ended);
    listener.destroy();
    assertEquals(0, pair.a.size() + pair.b.size());
  }

  /** All at once, and every number is another. */
  @Test
  void allAtOnce() {
    CmId listener = pair.b.create(pair.portB, this::handle);
    listener.listen(Pair.SERVICE);
    for (int i = 0; i < CYCLES; i++) {
      pair.a.create(pair.portA, this::handle).sendReq(Pair.req(i + 1));
    }
    pair.time.runAll(100 * CYCLES);
    assertEquals(2 * CYCLES, ended);
    listener.destroy();
    assertEquals(0, pair.a.size() + pair.b.size());
    assertEquals(0, pair.portA.outstanding + pair.portB.outstanding);
  }
}
