package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.IDLE;
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

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Nothing comes from the peer any more, in each state: what is told, to the millisecond, and that nothing is left. */
class VanishingPeerTest {
  private static final byte[] NOTHING = {};
  private static final int TRIES = Pair.RETRIES + 1;

  /** Two life times of the path and the peer's time to answer. */
  private static final long REQ_TRY = 2 * 1024 + 4096;

  private static final long REP_TRY = 4096;

  /** What an MRA of exponent 20 says, and the local ACK timeout. */
  private static final long MRA_TRY = 4096 + 2048;

  private static final long TIMEWAIT_MILLIS = 2048;

  private record At(Class<? extends CmEvent> event, long time) {}

  /** What is told of a state, and the state at the end; see {@link Ends} for when messages were sent. */
  private record Row(CmState state, CmState end, List<At> told) {}

  private static final List<Row> ROWS =
      List.of(
          new Row(REQ_SENT, IDLE, List.of(new At(CmEvent.ReqError.class, TRIES * REQ_TRY))),
          new Row(MRA_REQ_RCVD, IDLE, List.of(new At(CmEvent.ReqError.class, 4 + TRIES * MRA_TRY))),
          new Row(REQ_RCVD, REQ_RCVD, List.of()),
          new Row(MRA_REQ_SENT, MRA_REQ_SENT, List.of()),
          new Row(REP_SENT, IDLE, List.of(new At(CmEvent.RepError.class, 3 + TRIES * REP_TRY))),
          new Row(MRA_REP_RCVD, IDLE, List.of(new At(CmEvent.RepError.class, 7 + TRIES * MRA_TRY))),
          new Row(REP_RCVD, REP_RCVD, List.of()),
          new Row(MRA_REP_SENT, MRA_REP_SENT, List.of()),
          new Row(ESTABLISHED, ESTABLISHED, List.of()),
          new Row(
              DREQ_SENT,
              IDLE,
              List.of(
                  new At(CmEvent.DreqError.class, 9 + TRIES * REP_TRY),
                  new At(CmEvent.TimewaitExit.class, 9 + TRIES * REP_TRY + TIMEWAIT_MILLIS))),
          new Row(DREQ_RCVD, DREQ_RCVD, List.of()),
          new Row(TIMEWAIT, IDLE, List.of(new At(CmEvent.TimewaitExit.class, 12 + TIMEWAIT_MILLIS))),
          new Row(SIDR_REQ_SENT, IDLE, List.of(new At(CmEvent.SidrReqError.class, 3 * 1000))),
          new Row(SIDR_REQ_RCVD, SIDR_REQ_RCVD, List.of()));

  @TestFactory
  Stream<DynamicTest> inEachState() {
    return ROWS.stream().map(row -> DynamicTest.dynamicTest(row.state().name(), () -> check(row)));
  }

  private static List<At> told(Ends ends, CmId id) {
    List<At> told = new ArrayList<>();
    for (Ends.Told each : ends.told) {
      if (each.id() == id) {
        told.add(new At(each.event().getClass(), each.at()));
      }
    }
    return told;
  }

  private static void check(Row row) {
    Ends ends = new Ends();
    CmId id = ends.in(row.state());
    ends.told.clear();
    ends.pair.network((from, mad, to) -> {});
    ends.pair.time.runAll(1000);
    assertEquals(row.told(), told(ends, id));
    assertEquals(row.end(), id.state());
    assertEquals(0, ends.port(id).outstanding);
    ends.close();
  }

  /** The consumer goes on where the peer has gone: what it says is not answered. */
  @Test
  void whatTheConsumerSaysThen() {
    Ends ends = new Ends();
    CmId active = ends.in(ESTABLISHED);
    CmId passive = ends.passive.getFirst();
    ends.told.clear();
    ends.pair.network((from, mad, to) -> {});
    active.sendDreq(NOTHING);
    passive.sendDreq(NOTHING);
    ends.pair.time.runAll(1000);
    long activeError = 9 + TRIES * REQ_TRY;
    long passiveError = 9 + TRIES * REP_TRY;
    assertEquals(
        List.of(
            new At(CmEvent.DreqError.class, activeError),
            new At(CmEvent.TimewaitExit.class, activeError + TIMEWAIT_MILLIS)),
        told(ends, active));
    assertEquals(
        List.of(
            new At(CmEvent.DreqError.class, passiveError),
            new At(CmEvent.TimewaitExit.class, passiveError + TIMEWAIT_MILLIS)),
        told(ends, passive));
    ends.close();
  }

  @Test
  void theEndIsConfirmedToNobody() {
    Ends ends = new Ends();
    CmId id = ends.in(DREQ_RCVD);
    ends.told.clear();
    ends.pair.network((from, mad, to) -> {});
    id.sendDrep(NOTHING);
    ends.pair.time.runAll(1000);
    assertEquals(List.of(new At(CmEvent.TimewaitExit.class, 12 + TIMEWAIT_MILLIS)), told(ends, id));
    ends.close();
  }
}
