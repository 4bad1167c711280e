package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.Req;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** Connections between two managers, message by message. */
class IbCmTest {
  private static final byte[] NOTHING = {};
  private static final long REQ_TRY = 2 * 1024 + 4096;
  private static final long REP_TRY = 4096;

  private static final CmHandler OTHER = (id, event) -> CmHandler.Verdict.KEEP;

  private final Pair pair = new Pair();
  private final List<CmId> passive = new ArrayList<>();
  private CmHandler.Verdict verdict = CmHandler.Verdict.KEEP;
  private final CmId listener =
      pair.b.create(
          pair.portB,
          (id, event) -> {
            pair.eventsB.add(event);
            passive.add(id);
            return verdict;
          });
  private final CmId active =
      pair.a.create(
          pair.portA,
          (id, event) -> {
            pair.eventsA.add(event);
            return CmHandler.Verdict.KEEP;
          });

  private void request() {
    listener.listen(Pair.SERVICE);
    active.sendReq(Pair.req(0x11));
    pair.time.runUntil(10);
  }

  private CmId establish() {
    request();
    CmId accepted = passive.getFirst();
    accepted.sendRep(Pair.rep(0x22));
    pair.time.runUntil(20);
    active.sendRtu(new byte[] {6});
    pair.time.runUntil(30);
    assertEquals(CmState.ESTABLISHED, active.state());
    assertEquals(CmState.ESTABLISHED, accepted.state());
    return accepted;
  }

  private void nothingIsLeft() {
    active.destroy();
    passive.forEach(CmId::destroy);
    listener.destroy();
    pair.time.runAll(10_000);
    assertEquals(0, pair.a.size());
    assertEquals(0, pair.b.size());
    assertEquals(0, pair.portA.outstanding);
    assertEquals(0, pair.portB.outstanding);
  }

  @Test
  void aConnectionFromBeginningToEnd() {
    CmId accepted = establish();
    CmEvent.ReqReceived asked = (CmEvent.ReqReceived) pair.eventsB.get(0);
    assertEquals(listener, asked.listener());
    assertEquals(0xa, asked.remoteCaGuid());
    assertEquals(0x11, asked.remoteQpn());
    assertEquals(QpType.RC, asked.qpType());
    assertEquals(0x111111, asked.startingPsn());
    assertEquals(5, asked.responderResources(), "what the peer wants to have outstanding");
    assertEquals(3, asked.initiatorDepth(), "what the peer serves");
    assertEquals(7, asked.retryCount());
    assertEquals(6, asked.rnrRetryCount());
    assertEquals(Pair.B, asked.path().local());
    assertEquals(Pair.A, asked.path().remote());
    assertEquals(64, asked.path().address().hopLimit());
    assertEquals(92, asked.privateData().length);
    assertArrayEquals(new byte[] {1, 2, 3, 0}, Arrays.copyOf(asked.privateData(), 4));
    CmEvent.RepReceived agreed = (CmEvent.RepReceived) pair.eventsA.get(0);
    assertEquals(0x22, agreed.remoteQpn());
    assertEquals(0x222222, agreed.startingPsn());
    assertEquals(3, agreed.responderResources());
    assertEquals(5, agreed.initiatorDepth());
    assertEquals(196, agreed.privateData().length);
    CmEvent.RtuReceived ready = (CmEvent.RtuReceived) pair.eventsB.get(1);
    assertEquals(6, ready.privateData()[0]);

    active.sendDreq(NOTHING);
    pair.time.runUntil(40);
    assertInstanceOf(CmEvent.DreqReceived.class, pair.eventsB.get(2));
    accepted.sendDrep(new byte[] {9});
    pair.time.runUntil(50);
    assertEquals(9, ((CmEvent.DrepReceived) pair.eventsA.get(1)).privateData()[0]);
    assertEquals(CmState.TIMEWAIT, active.state());
    assertEquals(CmState.TIMEWAIT, accepted.state());
    pair.time.runAll(100);
    assertInstanceOf(CmEvent.TimewaitExit.class, pair.eventsA.get(2));
    assertInstanceOf(CmEvent.TimewaitExit.class, pair.eventsB.get(3));
    assertEquals(CmState.IDLE, active.state());
    assertEquals(List.of(CmAttribute.REQ, CmAttribute.RTU, CmAttribute.DREQ), pair.portA.sent);
    assertEquals(List.of(CmAttribute.REP, CmAttribute.DREP), pair.portB.sent);
    nothingIsLeft();
  }

  @Test
  void timewaitLastsAsLongAsThePathSays() {
    CmId accepted = establish();
    accepted.sendDreq(NOTHING);
    pair.time.runUntil(35);
    active.sendDrep(NOTHING);
    long begun = pair.time.now();
    long lasts = CmTimes.milliseconds(CmTimes.ackTimeout(15, Pair.LIFE_TIME));
    pair.time.runUntil(begun + lasts - 1);
    assertEquals(CmState.TIMEWAIT, active.state());
    pair.time.runUntil(begun + lasts);
    assertEquals(CmState.IDLE, active.state());
    nothingIsLeft();
  }

  @Test
  void nobodyListens() {
    active.sendReq(Pair.req(0x11));
    pair.time.runUntil(10);
    CmEvent.RejReceived refused = (CmEvent.RejReceived) pair.eventsA.getFirst();
    assertEquals(RejectReason.INVALID_SERVICE_ID.number(), refused.reason());
    assertEquals("nobody listens on this service id (8)", RejectReason.text(refused.reason()));
    assertEquals(CmState.IDLE, active.state());
    nothingIsLeft();
  }

  @Test
  void theConsumerRefusesWithItsReasons() {
    request();
    passive.getFirst().sendRej(RejectReason.CONSUMER_DEFINED.number(), new byte[] {7, 8}, new byte[] {1});
    pair.time.runUntil(20);
    CmEvent.RejReceived refused = (CmEvent.RejReceived) pair.eventsA.getFirst();
    assertEquals(28, refused.reason());
    assertArrayEquals(new byte[] {7, 8}, refused.ari());
    assertEquals(148, refused.privateData().length);
    assertEquals(1, refused.privateData()[0]);
    assertEquals(CmState.IDLE, passive.getFirst().state());
    nothingIsLeft();
  }

  @Test
  void aPeerThatNeverAnswers() {
    pair.network((from, mad, to) -> {});
    active.sendReq(Pair.req(0x11));
    pair.time.runUntil(REQ_TRY * (Pair.RETRIES + 1) - 1);
    assertEquals(List.of(), pair.eventsA);
    assertEquals(Pair.RETRIES + 1, pair.portA.sent.size());
    pair.time.runUntil(REQ_TRY * (Pair.RETRIES + 1));
    assertEquals(List.of(new CmEvent.ReqError()), pair.eventsA);
    assertEquals(CmState.IDLE, active.state());
    nothingIsLeft();
  }

  @Test
  void aLostRtuIsSentAgainWhenTheRepComesAgain() {
    request();
    passive.getFirst().sendRep(Pair.rep(0x22));
    pair.time.runUntil(20);
    pair.network((from, mad, to) -> {});
    active.sendRtu(new byte[] {6});
    pair.network(pair::deliver);
    pair.time.runUntil(20 + REP_TRY);
    assertEquals(CmState.ESTABLISHED, passive.getFirst().state());
    assertEquals(6, ((CmEvent.RtuReceived) pair.eventsB.get(1)).privateData()[0]);
    assertEquals(1, pair.portA.counters().duplicates(CmAttribute.REP));
    nothingIsLeft();
  }

  @Test
  void aPacketStandsForALostRtu() {
    request();
    CmId accepted = passive.getFirst();
    accepted.sendRep(Pair.rep(0x22));
    accepted.notifyEstablished();
    pair.time.runUntil(20);
    assertEquals(CmState.ESTABLISHED, accepted.state());
    assertInstanceOf(CmEvent.UserEstablished.class, pair.eventsB.get(1));
    assertEquals(Errno.EISCONN, assertThrows(VerbsException.class, accepted::notifyEstablished).errno());
    active.sendRtu(NOTHING);
    pair.time.runUntil(30);
    assertEquals(1, pair.portB.counters().duplicates(CmAttribute.RTU));
    nothingIsLeft();
  }

  @Test
  void aRepThatNobodyAnswers() {
    request();
    CmId accepted = passive.getFirst();
    pair.network((from, mad, to) -> {});
    accepted.sendRep(Pair.rep(0x22));
    pair.time.runUntil(10 + REP_TRY * (Pair.RETRIES + 1));
    assertInstanceOf(CmEvent.RepError.class, pair.eventsB.get(1));
    assertEquals(CmState.IDLE, accepted.state());
    nothingIsLeft();
  }

  @Test
  void aDreqThatNobodyAnswers() {
    establish();
    pair.network((from, mad, to) -> {});
    active.sendDreq(NOTHING);
    pair.time.runUntil(30 + REQ_TRY * (Pair.RETRIES + 1));
    assertInstanceOf(CmEvent.DreqError.class, pair.eventsA.get(1));
    assertEquals(CmState.TIMEWAIT, active.state());
    nothingIsLeft();
  }

  /** By whoever is there: TIMEWAIT is over when the DREQ comes again, and nobody knows the connection. */
  @Test
  void aLostDrepIsSentAgain() {
    CmId accepted = establish();
    active.sendDreq(NOTHING);
    verdict = CmHandler.Verdict.KEEP;
    pair.time.runUntil(35);
    pair.network((from, mad, to) -> {});
    accepted.sendDrep(new byte[] {9});
    pair.network(pair::deliver);
    verdict = CmHandler.Verdict.DESTROY;
    pair.time.runUntil(40 + REQ_TRY);
    assertInstanceOf(CmEvent.TimewaitExit.class, pair.eventsB.get(3));
    assertInstanceOf(CmEvent.DrepReceived.class, pair.eventsA.get(1));
    assertEquals(List.of(CmAttribute.REP, CmAttribute.DREP, CmAttribute.DREP), pair.portB.sent);
    nothingIsLeft();
  }

  @Test
  void bothEndAtOnce() {
    CmId accepted = establish();
    active.sendDreq(NOTHING);
    accepted.sendDreq(NOTHING);
    pair.time.runUntil(35);
    assertEquals(CmState.DREQ_RCVD, active.state());
    assertEquals(CmState.DREQ_RCVD, accepted.state());
    active.sendDrep(NOTHING);
    accepted.sendDrep(NOTHING);
    pair.time.runAll(100);
    assertEquals(CmState.IDLE, active.state());
    assertEquals(CmState.IDLE, accepted.state());
    nothingIsLeft();
  }

  @Test
  void theEndOfAConnectionThatNobodyKnowsIsConfirmed() {
    CmId accepted = establish();
    pair.network((from, mad, to) -> {});
    accepted.destroy();
    pair.network(pair::deliver);
    active.sendDreq(NOTHING);
    pair.time.runUntil(40);
    assertInstanceOf(CmEvent.DrepReceived.class, pair.eventsA.get(1));
    nothingIsLeft();
  }

  @Test
  void anMraNowLengthensTheWait() {
    request();
    passive.getFirst().sendMra(24, new byte[] {5});
    pair.time.runUntil(20);
    assertEquals(5, ((CmEvent.MraReceived) pair.eventsA.getFirst()).privateData()[0]);
    assertEquals(CmState.MRA_REQ_RCVD, active.state());
    pair.time.runUntil(CmTimes.milliseconds(24));
    assertEquals(List.of(CmAttribute.REQ), pair.portA.sent, "it is not asked again while the peer takes its time");
    passive.getFirst().sendRep(Pair.rep(0x22));
    pair.time.runUntil(pair.time.now() + 10);
    assertEquals(CmState.REP_RCVD, active.state());
    nothingIsLeft();
  }

  @Test
  void aDelayedMraIsSentWhenTheRequestComesAgain() {
    request();
    passive.getFirst().sendMra(24 | CmId.MRA_DELAY, NOTHING);
    pair.time.runUntil(20);
    assertEquals(List.of(), pair.portB.sent);
    pair.time.runUntil(REQ_TRY + 10);
    assertEquals(List.of(CmAttribute.MRA), pair.portB.sent);
    assertEquals(1, pair.portB.counters().duplicates(CmAttribute.REQ));
    assertEquals(24, ((CmEvent.MraReceived) pair.eventsA.getFirst()).serviceTimeout());
    nothingIsLeft();
  }

  @Test
  void whoGivesUpSaysSo() {
    request();
    active.destroy();
    pair.time.runUntil(20);
    CmEvent.RejReceived given = (CmEvent.RejReceived) pair.eventsB.get(1);
    assertEquals(RejectReason.TIMEOUT.number(), given.reason());
    assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 0xa}, given.ari());
    assertEquals(CmState.IDLE, passive.getFirst().state());
    nothingIsLeft();
  }

  @Test
  void aRequestForWhichThereIsNoRoomComesAgain() {
    verdict = CmHandler.Verdict.FORGET;
    request();
    assertEquals(List.of(), pair.portB.sent);
    verdict = CmHandler.Verdict.KEEP;
    pair.time.runUntil(REQ_TRY + 10);
    assertEquals(2, passive.size());
    assertEquals(CmState.IDLE, passive.get(0).state());
    assertEquals(CmState.REQ_RCVD, passive.get(1).state());
    nothingIsLeft();
  }

  @Test
  void aConsumerThatFailsRefuses() {
    CmId failing =
        pair.b.create(
            pair.portB,
            (id, event) -> {
              throw new IllegalStateException("on purpose");
            });
    failing.listen(Pair.SERVICE + 1);
    CmId other = pair.a.create(pair.portA, active.handler());
    ReqParameters usual = Pair.req(0x12);
    other.sendReq(
        new ReqParameters(
            usual.path(), Pair.SERVICE + 1, 0x12, QpType.UC, 1, 0, 0, 20, false, 0, 0, 3, true, 0, 0, NOTHING));
    pair.time.runUntil(10);
    assertEquals(28, ((CmEvent.RejReceived) pair.eventsA.getFirst()).reason());
    other.destroy();
    failing.destroy();
    nothingIsLeft();
  }

  @Test
  void aPeerThatBeganANewLife() {
    CmId accepted = establish();
    CmId reborn = pair.a.create(pair.portA, active.handler());
    reborn.sendReq(Pair.req(0x11));
    pair.time.runUntil(40);
    assertEquals(RejectReason.STALE_CONN.number(), ((CmEvent.RejReceived) pair.eventsA.get(1)).reason());
    assertEquals(CmState.TIMEWAIT, reborn.state());
    assertEquals(CmState.DREQ_SENT, accepted.state());
    assertInstanceOf(CmEvent.DreqReceived.class, pair.eventsA.get(2));
    reborn.destroy();
    nothingIsLeft();
  }

  @Test
  void whatCannotBeAskedFor() {
    ReqParameters usual = Pair.req(0x11);
    ReqParameters datagrams =
        new ReqParameters(
            usual.path(), Pair.SERVICE, 1, QpType.UD, 0, 0, 0, 20, false, 0, 0, 3, false, 0, 0, NOTHING);
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> active.sendReq(datagrams)).errno());
    ReqParameters talkative =
        new ReqParameters(
            usual.path(), Pair.SERVICE, 1, QpType.RC, 0, 0, 0, 20, false, 0, 0, 3, false, 0, 0, new byte[93]);
    VerbsException refused = assertThrows(VerbsException.class, () -> active.sendReq(talkative));
    assertEquals("REQ: 93 bytes of private data, at most 92 are allowed", refused.getMessage());
    refused = assertThrows(VerbsException.class, () -> active.sendRtu(NOTHING));
    assertEquals(
        "RTU: the connection is in state IDLE, it must be in [REP_RCVD, MRA_REP_SENT]", refused.getMessage());
    listener.listen(Pair.SERVICE);
    CmId second = pair.b.create(pair.portB, active.handler());
    assertEquals(
        Errno.EBUSY, assertThrows(VerbsException.class, () -> second.listen(Pair.SERVICE)).errno());
    second.destroy();
    refused = assertThrows(VerbsException.class, () -> second.listen(Pair.SERVICE));
    assertEquals("listen: the connection was destroyed", refused.getMessage());
    assertEquals(List.of(), pair.portA.sent);
    nothingIsLeft();
  }

  @Test
  void aRequestOfATypeThatNobodyKnows() {
    listener.listen(Pair.SERVICE);
    pair.network(
        (from, mad, to) -> {
          if (from == pair.portA) {
            Req.TRANSPORT_SERVICE_TYPE.set(mad, 2);
          }
          pair.deliver(from, mad, to);
        });
    active.sendReq(Pair.req(0x11));
    pair.time.runUntil(10);
    assertEquals(
        RejectReason.INVALID_TRANSPORT_TYPE.number(), ((CmEvent.RejReceived) pair.eventsA.getFirst()).reason());
    nothingIsLeft();
  }

  @Test
  void questionsForServices() {
    listener.listen(Pair.SERVICE);
    active.sendSidrReq(Pair.path(), Pair.SERVICE, 4096, 15, new byte[] {1});
    pair.time.runUntil(10);
    CmEvent.SidrReqReceived asked = (CmEvent.SidrReqReceived) pair.eventsB.getFirst();
    assertEquals(216, asked.privateData().length);
    passive
        .getFirst()
        .sendSidrRep(SidrStatus.SUCCESS, 0x33, 0x1234567, 0xabcdef, 0x778899, NOTHING, new byte[] {2});
    pair.time.runUntil(20);
    CmEvent.SidrRepReceived answered = (CmEvent.SidrRepReceived) pair.eventsA.getFirst();
    assertEquals(0, answered.status());
    assertEquals(0x33, answered.qpn());
    assertEquals(0x1234567, answered.qkey());
    assertEquals(0xabcdef, answered.vendorId());
    assertEquals(0x778899, answered.attributeModifier());
    assertEquals(2, answered.privateData()[0]);
    active.sendSidrReq(Pair.path(), Pair.SERVICE + 5, 4096, 15, NOTHING);
    pair.time.runUntil(30);
    assertEquals(
        SidrStatus.UNSUPPORTED.ordinal(), ((CmEvent.SidrRepReceived) pair.eventsA.get(1)).status());
    active.sendSidrReq(Pair.path(), Pair.SERVICE, 4096, 15, NOTHING);
    pair.time.runUntil(40);
    passive.getLast().destroy();
    pair.time.runUntil(50);
    assertEquals(SidrStatus.REJECT.ordinal(), ((CmEvent.SidrRepReceived) pair.eventsA.get(2)).status());
    pair.network((from, mad, to) -> {});
    active.sendSidrReq(Pair.path(), Pair.SERVICE, 4096, 2, NOTHING);
    pair.time.runUntil(50 + 3 * 4096);
    assertInstanceOf(CmEvent.SidrReqError.class, pair.eventsA.get(3));
    nothingIsLeft();
  }

  /** Messages for ids that are not there, and of kinds that are not there, do nothing. */
  @Test
  void messagesFromNowhere() {
    establish();
    int events = pair.eventsA.size();
    for (CmAttribute kind : CmAttribute.values()) {
      MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
      MadHeader.ATTRIBUTE_ID.set(mad, kind.id());
      Rej.REASON.set(mad, 8);
      pair.a.receive(pair.portA, new ReceivedCm(mad, Pair.path().address()));
    }
    MemorySegment unknown = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
    pair.a.receive(pair.portA, new ReceivedCm(unknown, Pair.path().address()));
    pair.time.runUntil(40);
    assertEquals(events, pair.eventsA.size());
    assertEquals(CmState.ESTABLISHED, active.state());
    nothingIsLeft();
  }

  @Test
  void serviceIdsThatAreAssigned() {
    CmId first = pair.a.create(pair.portA, OTHER);
    CmId second = pair.a.create(pair.portA, OTHER);
    first.listen(CmId.ASSIGN_SERVICE_ID);
    second.listen(CmId.ASSIGN_SERVICE_ID);
    assertEquals(0x0200_0000_0000_0001L, first.serviceId());
    assertEquals(0x0200_0000_0000_0002L, second.serviceId());
    CmId chosen = pair.a.create(pair.portA, OTHER);
    VerbsException refused = assertThrows(VerbsException.class, () -> chosen.listen(0x0200_0000_0000_0003L));
    assertEquals(Errno.EINVAL, refused.errno());
    assertEquals(CmState.IDLE, chosen.state());
    first.destroy();
    second.destroy();
    chosen.destroy();
    nothingIsLeft();
  }

  /** The queue pair of a connection cannot be that of another: the older one is over (IBA volume 1, 12.9.8.3.1). */
  @Test
  void aRepOfAQueuePairThatIsInUse() {
    CmId accepted = establish();
    CmId second = pair.a.create(pair.portA, OTHER);
    second.sendReq(Pair.req(0x12));
    pair.time.runUntil(40);
    CmId acceptedAgain = passive.getLast();
    acceptedAgain.sendRep(Pair.rep(0x22));
    pair.time.runUntil(50);
    assertEquals(CmState.REQ_SENT, second.state());
    assertEquals(CmState.DREQ_SENT, active.state());
    assertEquals(CmState.DREQ_RCVD, accepted.state());
    assertEquals(CmState.TIMEWAIT, acceptedAgain.state());
    CmEvent.RejReceived refused =
        (CmEvent.RejReceived) pair.eventsB.stream().filter(CmEvent.RejReceived.class::isInstance).findFirst().get();
    assertEquals(RejectReason.STALE_CONN.number(), refused.reason());
    second.destroy();
    nothingIsLeft();
  }

  /** On a partition that the port is not in: no way back. */
  @Test
  void aRequestThatThereIsNoWayBackFor() {
    CmAddress elsewhere = new CmAddress(Pair.A, Pair.B, 0x8765, 0, 0, 64, 0);
    ReqParameters usual = Pair.req(0x11);
    listener.listen(Pair.SERVICE);
    active.sendReq(
        new ReqParameters(
            new CmPath(elsewhere, PathMtu.MTU_1024, 0, Pair.LIFE_TIME), usual.serviceId(), 0x11, QpType.RC, 1, 1, 1,
            Pair.RESPONSE_TIMEOUT, false, 7, 7, Pair.RETRIES, false, 0, 0, NOTHING));
    pair.time.runUntil(10);
    CmEvent.RejReceived refused = (CmEvent.RejReceived) pair.eventsA.getFirst();
    assertEquals(RejectReason.INVALID_GID.number(), refused.reason());
    assertEquals(pair.portB.gid(), Gid.readFrom(MemorySegment.ofArray(refused.ari()), 0));
    assertEquals(List.of(), pair.eventsB);
    nothingIsLeft();
  }

  @Test
  void numbersThatDoNotFit() {
    ReqParameters wide =
        new ReqParameters(
            Pair.path(), Pair.SERVICE, 0x11, QpType.RC, 1, 256, 1, Pair.RESPONSE_TIMEOUT, false, 7, 7, Pair.RETRIES,
            false, 0, 0, NOTHING);
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> active.sendReq(wide)).errno());
    assertEquals(CmState.IDLE, active.state());
    request();
    CmId accepted = passive.getFirst();
    RepParameters deep = new RepParameters(1 << 24, 1, 1, 1, 0, false, 7, false, 0, 0, NOTHING);
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, () -> accepted.sendRep(deep)).errno());
    assertEquals(
        Errno.EINVAL, assertThrows(VerbsException.class, () -> accepted.sendRej(28, new byte[73], NOTHING)).errno());
    assertEquals(CmState.REQ_RCVD, accepted.state());
    nothingIsLeft();
  }

  @Test
  void aPortThatIsGone() {
    CmId accepted = establish();
    pair.portA.broken = true;
    assertEquals(
        Errno.ENODEV, assertThrows(VerbsException.class, () -> active.sendDreq(NOTHING)).errno());
    assertEquals(CmState.TIMEWAIT, active.state());
    assertTrue(accepted.state() == CmState.ESTABLISHED);
    nothingIsLeft();
  }
}
