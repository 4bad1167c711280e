package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.rdma.cm.message.CmAttribute;

/** A whole connection of which one message is lost once: when each side hears of what, and that nothing is left. */
class LostMessagesTest {
  private static final byte[] NOTHING = {};
  private static final long END = 10_000;
  private static final long REQ_TRY = 6144;
  private static final long REP_TRY = 4096;
  private static final long TIMEWAIT = 2048;

  private final Pair pair = new Pair();
  private final List<String> heard = new ArrayList<>();
  private final Map<CmAttribute, Integer> lost = new EnumMap<>(CmAttribute.class);
  private final CmId listener = pair.b.create(pair.portB, this::passive);
  private final CmId active = pair.a.create(pair.portA, this::active);

  private CmHandler.Verdict passive(CmId id, CmEvent event) {
    note("passive", event);
    switch (event) {
      case CmEvent.ReqReceived asked -> id.sendRep(Pair.rep(0x22));
      case CmEvent.DreqReceived end -> id.sendDrep(NOTHING);
      default -> {}
    }
    return event instanceof CmEvent.TimewaitExit ? CmHandler.Verdict.DESTROY : CmHandler.Verdict.KEEP;
  }

  private CmHandler.Verdict active(CmId id, CmEvent event) {
    note("active", event);
    if (event instanceof CmEvent.RepReceived) {
      id.sendRtu(NOTHING);
    }
    return event instanceof CmEvent.TimewaitExit ? CmHandler.Verdict.DESTROY : CmHandler.Verdict.KEEP;
  }

  private void note(String who, CmEvent event) {
    heard.add(pair.time.now() + " " + who + " " + event.getClass().getSimpleName());
  }

  /** Carries out a connection without the first of some messages. */
  private void without(CmAttribute first, String... expected) {
    pair.network(
        (from, mad, to) -> {
          CmAttribute kind = CmAttribute.of(MadHeader.ATTRIBUTE_ID.getInt(mad)).orElseThrow();
          if (kind != first || lost.merge(kind, 1, Integer::sum) > 1) {
            pair.deliver(from, mad, to);
          }
        });
    listener.listen(Pair.SERVICE);
    active.sendReq(Pair.req(0x11));
    pair.time.runUntil(END);
    active.sendDreq(NOTHING);
    pair.time.runAll(1000);
    assertEquals(List.of(expected), heard);
    listener.destroy();
    assertEquals(0, pair.a.size() + pair.b.size());
    assertEquals(0, pair.portA.outstanding + pair.portB.outstanding);
  }

  @Test
  void theReq() {
    without(
        CmAttribute.REQ,
        REQ_TRY + 1 + " passive ReqReceived",
        REQ_TRY + 2 + " active RepReceived",
        REQ_TRY + 3 + " passive RtuReceived",
        END + 1 + " passive DreqReceived",
        END + 2 + " active DrepReceived",
        END + 1 + TIMEWAIT + " passive TimewaitExit",
        END + 2 + TIMEWAIT + " active TimewaitExit");
    assertEquals(1, pair.portA.counters().retries(CmAttribute.REQ));
    assertEquals(0, pair.portB.counters().duplicates(CmAttribute.REQ));
  }

  @Test
  void theRep() {
    without(
        CmAttribute.REP,
        "1 passive ReqReceived",
        1 + REP_TRY + 1 + " active RepReceived",
        1 + REP_TRY + 2 + " passive RtuReceived",
        END + 1 + " passive DreqReceived",
        END + 2 + " active DrepReceived",
        END + 1 + TIMEWAIT + " passive TimewaitExit",
        END + 2 + TIMEWAIT + " active TimewaitExit");
    assertEquals(1, pair.portB.counters().retries(CmAttribute.REP));
    assertEquals(0, pair.portA.counters().retries(CmAttribute.REQ), "the answer came before");
  }

  @Test
  void theRtu() {
    without(
        CmAttribute.RTU,
        "1 passive ReqReceived",
        "2 active RepReceived",
        1 + REP_TRY + 2 + " passive RtuReceived",
        END + 1 + " passive DreqReceived",
        END + 2 + " active DrepReceived",
        END + 1 + TIMEWAIT + " passive TimewaitExit",
        END + 2 + TIMEWAIT + " active TimewaitExit");
    assertEquals(1, pair.portB.counters().retries(CmAttribute.REP));
    assertEquals(1, pair.portA.counters().duplicates(CmAttribute.REP));
    assertEquals(2, pair.portA.counters().sent(CmAttribute.RTU));
    assertEquals(1, pair.portA.counters().retries(CmAttribute.RTU));
  }

  @Test
  void theDreq() {
    without(
        CmAttribute.DREQ,
        "1 passive ReqReceived",
        "2 active RepReceived",
        "3 passive RtuReceived",
        END + REQ_TRY + 1 + " passive DreqReceived",
        END + REQ_TRY + 2 + " active DrepReceived",
        END + REQ_TRY + 1 + TIMEWAIT + " passive TimewaitExit",
        END + REQ_TRY + 2 + TIMEWAIT + " active TimewaitExit");
    assertEquals(1, pair.portA.counters().retries(CmAttribute.DREQ));
  }

  /** The DREQ comes again when the passive side knows the connection no more, and says so. */
  @Test
  void theDrep() {
    without(
        CmAttribute.DREP,
        "1 passive ReqReceived",
        "2 active RepReceived",
        "3 passive RtuReceived",
        END + 1 + " passive DreqReceived",
        END + 1 + TIMEWAIT + " passive TimewaitExit",
        END + REQ_TRY + 2 + " active DrepReceived",
        END + REQ_TRY + 2 + TIMEWAIT + " active TimewaitExit");
    assertEquals(1, pair.portB.counters().duplicates(CmAttribute.DREQ));
    assertEquals(2, pair.portB.counters().sent(CmAttribute.DREP));
  }
}
