package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.packet.RnrTimer;

/** What a connection says of its queue pair: in which states, and what. */
class QpTransitionTest {
  private static final byte[] NOTHING = {};

  private static Set<CmState> states(QpState target) {
    Set<CmState> known =
        EnumSet.of(
            CmState.REQ_RCVD,
            CmState.MRA_REQ_SENT,
            CmState.REP_RCVD,
            CmState.MRA_REP_SENT,
            CmState.REP_SENT,
            CmState.MRA_REP_RCVD,
            CmState.ESTABLISHED);
    if (target == QpState.INIT) {
      known.addAll(List.of(CmState.REQ_SENT, CmState.MRA_REQ_RCVD));
    }
    return target == QpState.INIT || target == QpState.RTR || target == QpState.RTS ? known : Set.of();
  }

  @TestFactory
  Stream<DynamicTest> inEachState() {
    return Stream.of(QpState.values())
        .flatMap(
            target ->
                Stream.of(CmState.values())
                    .map(state -> DynamicTest.dynamicTest(target + " in " + state, () -> check(target, state))));
  }

  private static void check(QpState target, CmState state) {
    Ends ends = new Ends();
    CmId id = ends.in(state);
    if (states(target).contains(state)) {
      assertEquals(target, id.qpAttributes(target).state());
    } else {
      VerbsException refused = assertThrows(VerbsException.class, () -> id.qpAttributes(target));
      assertEquals(Errno.EINVAL, refused.errno());
    }
    assertEquals(state, id.state());
    ends.close();
  }

  private static void assertMask(QpAttributes attributes, QpAttribute... expected) {
    assertEquals(EnumSet.copyOf(List.of(expected)), attributes.mask());
  }

  private static AhAttributes way(CmId id, Ends ends) {
    return new AhAttributes(1, id == ends.active ? Pair.B : Pair.A, SimulatedPort.GID_INDEX).withHopLimit(64);
  }

  /** The active side asks for 5 and serves 3; the passive side agrees. */
  @Test
  void bothSidesOfAReliableConnection() {
    Ends ends = new Ends();
    CmId active = ends.in(CmState.ESTABLISHED);
    CmId passive = ends.passive.getFirst();
    for (CmId id : List.of(active, passive)) {
      boolean asks = id == active;
      QpAttributes init = id.qpAttributes(QpState.INIT);
      assertMask(init, QpAttribute.STATE, QpAttribute.ACCESS_FLAGS, QpAttribute.PKEY_INDEX, QpAttribute.PORT);
      assertEquals(Set.of(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC), init.access());
      assertEquals(SimulatedPort.PKEY_INDEX, init.pkeyIndex());
      assertEquals(1, init.port());
      QpAttributes rtr = id.qpAttributes(QpState.RTR);
      assertMask(
          rtr,
          QpAttribute.STATE,
          QpAttribute.AV,
          QpAttribute.PATH_MTU,
          QpAttribute.DEST_QPN,
          QpAttribute.RQ_PSN,
          QpAttribute.MAX_DEST_RD_ATOMIC,
          QpAttribute.MIN_RNR_TIMER);
      assertEquals(way(id, ends), rtr.addressVector());
      assertEquals(PathMtu.MTU_1024, rtr.pathMtu());
      assertEquals(asks ? 0x22 : 0x11, rtr.destQpNumber());
      assertEquals(asks ? 0x111111 : 0x222222, rtr.rqPsn(), "what this side said");
      assertEquals(asks ? 3 : 5, rtr.maxDestRdAtomic());
      assertEquals(640_000, RnrTimer.nanos(rtr.minRnrTimer()));
      QpAttributes rts = id.qpAttributes(QpState.RTS);
      assertMask(
          rts,
          QpAttribute.STATE,
          QpAttribute.SQ_PSN,
          QpAttribute.RETRY_CNT,
          QpAttribute.RNR_RETRY,
          QpAttribute.MAX_QP_RD_ATOMIC,
          QpAttribute.TIMEOUT);
      assertEquals(asks ? 0x222222 : 0x111111, rts.sqPsn(), "what the peer said");
      assertEquals(7, rts.retryCount());
      assertEquals(6, rts.rnrRetry());
      assertEquals(asks ? 5 : 3, rts.maxRdAtomic());
      assertEquals(id.connection.ackTimeout, rts.timeout());
    }
    ends.close();
  }

  @Test
  void whoServesNoReadsGrantsNone() {
    Ends ends = new Ends();
    CmId passive = ends.in(CmState.REQ_RCVD);
    passive.sendRep(new RepParameters(1, 2, 0, 0, 0, false, 0, false, 0, 0, NOTHING));
    assertEquals(Set.of(Access.REMOTE_WRITE), passive.qpAttributes(QpState.INIT).access());
    ends.close();
  }

  @Test
  void typesThatNeedLess() {
    QpAttribute[] way = {
      QpAttribute.STATE, QpAttribute.AV, QpAttribute.PATH_MTU, QpAttribute.DEST_QPN, QpAttribute.RQ_PSN
    };
    for (QpType type : List.of(QpType.UC, QpType.XRC_INI)) {
      Ends ends = new Ends();
      ends.listener.listen(Pair.SERVICE);
      ends.active.sendReq(
          new ReqParameters(
              Pair.path(), Pair.SERVICE, 1, type, 1, 0, 0, 20, false, 3, 2, 15, false, 0, 0, NOTHING));
      ends.pair.time.runUntil(5);
      CmId passive = ends.passive.getFirst();
      passive.sendRep(Pair.rep(2));
      ends.pair.time.runUntil(10);
      assertMask(ends.active.qpAttributes(QpState.RTR), way);
      if (type == QpType.UC) {
        assertMask(passive.qpAttributes(QpState.RTR), way);
        assertMask(ends.active.qpAttributes(QpState.RTS), QpAttribute.STATE, QpAttribute.SQ_PSN);
      } else {
        assertMask(passive.qpAttributes(QpState.RTS), QpAttribute.STATE, QpAttribute.SQ_PSN, QpAttribute.TIMEOUT);
        assertMask(
            passive.qpAttributes(QpState.RTR),
            QpAttribute.STATE,
            QpAttribute.AV,
            QpAttribute.PATH_MTU,
            QpAttribute.DEST_QPN,
            QpAttribute.RQ_PSN,
            QpAttribute.MAX_DEST_RD_ATOMIC,
            QpAttribute.MIN_RNR_TIMER);
      }
      ends.close();
    }
  }
}
