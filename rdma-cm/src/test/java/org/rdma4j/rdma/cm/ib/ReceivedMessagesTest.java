package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.IDLE;
import static org.rdma4j.rdma.cm.ib.CmState.LISTEN;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.TIMEWAIT;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.ib.core.mad.MadField;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Dreq;
import org.rdma4j.rdma.cm.message.Mra;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.Rep;
import org.rdma4j.rdma.cm.message.Req;
import org.rdma4j.rdma.cm.message.SidrReq;

/** Every message in every state: the state that follows, the event, the answer, and what counts as a duplicate. */
class ReceivedMessagesTest {
  private static final int STRANGER = 0x5555;
  private static final MadField FIRST = new MadField("local comm id or request id", MadHeader.BYTES, 0, 32);
  private static final MadField SECOND = new MadField("remote comm id", MadHeader.BYTES + 4, 0, 32);
  private static final Set<CmState> NO_PEER = EnumSet.of(IDLE, LISTEN, REQ_SENT, MRA_REQ_RCVD, SIDR_REQ_SENT);
  private static final Set<CmState> PEER = EnumSet.complementOf(EnumSet.copyOf(NO_PEER));
  private static final Set<CmState> PASSIVE =
      EnumSet.of(REQ_RCVD, MRA_REQ_SENT, REP_SENT, MRA_REP_RCVD, SIDR_REQ_RCVD, DREQ_SENT);

  /**
   * What a message does.
   *
   * @param fill writes what is not the numbers of the connection
   * @param next the states in which an event follows, and the new state
   * @param answers what is sent in some states
   * @param duplicates states in which it counts as one that came before
   */
  private record Row(
      String name,
      CmAttribute kind,
      BiConsumer<MemorySegment, CmId> fill,
      Map<CmState, CmState> next,
      Map<CmState, CmAttribute> answers,
      Set<CmState> duplicates) {}

  private static Map<CmState, CmState> to(CmState next, CmState... from) {
    Map<CmState, CmState> map = new EnumMap<>(CmState.class);
    for (CmState each : from) {
      map.put(each, next);
    }
    return map;
  }

  private static <K, V> Map<K, V> both(Map<K, V> one, Map<K, V> other) {
    Map<K, V> map = new HashMap<>(one);
    map.putAll(other);
    return map;
  }

  private static Set<CmState> without(Set<CmState> all, CmState... some) {
    Set<CmState> left = EnumSet.copyOf(all);
    left.removeAll(List.of(some));
    return left;
  }

  private static BiConsumer<MemorySegment, CmId> rej(RejectReason reason) {
    return (mad, id) -> {
      boolean aboutReq = NO_PEER.contains(id.state());
      Rej.MESSAGE_REJECTED.set(mad, aboutReq ? CmMessages.ABOUT_REQ : CmMessages.ABOUT_OTHER);
      Rej.REASON.set(mad, reason.number());
    };
  }

  private static void qpn(MemorySegment mad, CmId id) {
    Dreq.REMOTE_QPN_EECN.set(mad, id.connection.localQpn);
  }

  private static final Map<CmState, CmState> REJECTED_AFTER =
      to(TIMEWAIT, DREQ_SENT, REP_RCVD, MRA_REP_SENT, ESTABLISHED);
  private static final CmState[] REJECTED_BEFORE = {
    REQ_SENT, MRA_REQ_RCVD, REP_SENT, MRA_REP_RCVD, REQ_RCVD, MRA_REQ_SENT
  };

  private static final List<Row> ROWS =
      List.of(
          new Row(
              "MRA of a REQ",
              CmAttribute.MRA,
              (mad, id) -> Mra.MESSAGE_MRAED.set(mad, CmMessages.ABOUT_REQ),
              to(MRA_REQ_RCVD, REQ_SENT),
              Map.of(),
              Set.of(MRA_REQ_RCVD, MRA_REP_RCVD)),
          new Row(
              "MRA of a REP",
              CmAttribute.MRA,
              (mad, id) -> Mra.MESSAGE_MRAED.set(mad, CmMessages.ABOUT_REP),
              to(MRA_REP_RCVD, REP_SENT),
              Map.of(),
              Set.of(MRA_REP_RCVD)),
          new Row(
              "MRA of a LAP",
              CmAttribute.MRA,
              (mad, id) -> Mra.MESSAGE_MRAED.set(mad, CmMessages.ABOUT_OTHER),
              Map.of(),
              Map.of(),
              Set.of(MRA_REP_RCVD)),
          new Row(
              "REJ",
              CmAttribute.REJ,
              rej(RejectReason.CONSUMER_DEFINED),
              both(to(IDLE, REJECTED_BEFORE), REJECTED_AFTER),
              Map.of(),
              Set.of()),
          new Row(
              "REJ of a stale connection",
              CmAttribute.REJ,
              rej(RejectReason.STALE_CONN),
              both(to(TIMEWAIT, REJECTED_BEFORE), REJECTED_AFTER),
              Map.of(),
              Set.of()),
          new Row(
              "REP",
              CmAttribute.REP,
              (mad, id) -> Rep.LOCAL_QPN.set(mad, 0x99),
              to(REP_RCVD, REQ_SENT, MRA_REQ_RCVD),
              Map.of(ESTABLISHED, CmAttribute.RTU, MRA_REP_SENT, CmAttribute.MRA),
              PEER),
          new Row(
              "RTU",
              CmAttribute.RTU,
              (mad, id) -> {},
              to(ESTABLISHED, REP_SENT, MRA_REP_RCVD),
              Map.of(),
              without(PEER, REP_SENT, MRA_REP_RCVD)),
          new Row(
              "DREQ",
              CmAttribute.DREQ,
              ReceivedMessagesTest::qpn,
              to(DREQ_RCVD, REP_SENT, DREQ_SENT, MRA_REP_RCVD, ESTABLISHED),
              both(
                  Map.of(TIMEWAIT, CmAttribute.DREP),
                  Map.of(
                      IDLE, CmAttribute.DREP, LISTEN, CmAttribute.DREP, REQ_SENT, CmAttribute.DREP,
                      MRA_REQ_RCVD, CmAttribute.DREP, SIDR_REQ_SENT, CmAttribute.DREP)),
              EnumSet.of(TIMEWAIT, DREQ_RCVD, IDLE, LISTEN, REQ_SENT, MRA_REQ_RCVD, SIDR_REQ_SENT)),
          new Row(
              "DREQ of another queue pair",
              CmAttribute.DREQ,
              (mad, id) -> Dreq.REMOTE_QPN_EECN.set(mad, 0xabcdef),
              Map.of(),
              Map.of(
                  IDLE, CmAttribute.DREP, LISTEN, CmAttribute.DREP, REQ_SENT, CmAttribute.DREP,
                  MRA_REQ_RCVD, CmAttribute.DREP, SIDR_REQ_SENT, CmAttribute.DREP),
              NO_PEER),
          new Row(
              "DREP",
              CmAttribute.DREP,
              (mad, id) -> {},
              to(TIMEWAIT, DREQ_SENT, DREQ_RCVD),
              Map.of(),
              Set.of()),
          new Row("LAP", CmAttribute.LAP, (mad, id) -> {}, Map.of(), Map.of(), Set.of()),
          new Row("APR", CmAttribute.APR, (mad, id) -> {}, Map.of(), Map.of(), Set.of()),
          new Row(
              "SIDR_REP",
              CmAttribute.SIDR_REP,
              (mad, id) -> {
                FIRST.setInt(mad, id.localId());
                SECOND.setInt(mad, 0);
              },
              to(IDLE, SIDR_REQ_SENT),
              Map.of(),
              Set.of()),
          new Row(
              "REQ for nobody",
              CmAttribute.REQ,
              (mad, id) -> Req.SERVICE_ID.set(mad, 0x1234),
              Map.of(),
              everywhere(CmAttribute.REJ),
              Set.of()),
          new Row(
              "SIDR_REQ for nobody",
              CmAttribute.SIDR_REQ,
              (mad, id) -> SidrReq.SERVICE_ID.set(mad, 0x1234),
              Map.of(),
              everywhere(CmAttribute.SIDR_REP),
              Set.of()));

  private static Map<CmState, CmAttribute> everywhere(CmAttribute answer) {
    Map<CmState, CmAttribute> map = new EnumMap<>(CmState.class);
    Stream.of(CmState.values()).forEach(state -> map.put(state, answer));
    return map;
  }

  @TestFactory
  Stream<DynamicTest> messages() {
    return ROWS.stream()
        .flatMap(
            row ->
                Stream.of(CmState.values())
                    .map(state -> DynamicTest.dynamicTest(row.name() + " in " + state, () -> check(row, state))));
  }

  private static MemorySegment message(Row row, CmId id) {
    MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
    MadHeader.ATTRIBUTE_ID.set(mad, row.kind().id());
    boolean peerKnown = PEER.contains(id.state());
    FIRST.setInt(mad, peerKnown ? id.connection.remoteId : STRANGER);
    if (row.kind() != CmAttribute.REQ && row.kind() != CmAttribute.SIDR_REQ) {
      SECOND.setInt(mad, id.localId());
    } else {
      FIRST.setInt(mad, STRANGER);
    }
    row.fill().accept(mad, id);
    return mad;
  }

  private static void check(Row row, CmState state) {
    Ends ends = new Ends();
    CmId id = ends.in(state);
    assertEquals(state, id.state());
    SimulatedPort port = ends.port(id);
    assertEquals(PASSIVE.contains(state) || state == LISTEN, port == ends.pair.portB);
    ends.told.clear();
    port.sent.clear();
    ends.pair.network((from, mad, to) -> {}); // Only this message.
    CmCounters counters = port.counters();
    long received = counters.received(row.kind());
    long duplicates = counters.duplicates(row.kind());
    MemorySegment mad = message(row, id);
    CmAddress from = new CmAddress(Pair.B, Pair.A, 0xffff, 0, 0, 64, 0);
    ends.manager(id).receive(port, new ReceivedCm(mad, from));
    ends.pair.time.runUntil(ends.pair.time.now() + 1);
    CmState next = row.next().get(state);
    assertEquals(next == null ? state : next, id.state());
    assertEquals(next == null ? List.of() : List.of(id), ends.told.stream().map(Ends.Told::id).toList());
    CmAttribute answer = row.answers().get(state);
    assertEquals(answer == null ? List.of() : List.of(answer), port.sent);
    assertEquals(received + 1, counters.received(row.kind()));
    assertEquals(duplicates + (row.duplicates().contains(state) ? 1 : 0), counters.duplicates(row.kind()));
    ends.close();
  }
}
