package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.IDLE;
import static org.rdma4j.rdma.cm.ib.CmState.LISTEN;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.TIMEWAIT;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** Every call in every state: those that the kernel allows, and the state that follows. */
class StatesTest {
  private static final byte[] NOTHING = {};

  /** A call, and what state it leads to from those that allow it. */
  private record Call(String name, Consumer<CmId> code, Map<CmState, CmState> allowed) {}

  private static Map<CmState, CmState> from(Object... pairs) {
    Map<CmState, CmState> map = new EnumMap<>(CmState.class);
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((CmState) pairs[i], (CmState) pairs[i + 1]);
    }
    return map;
  }

  private static final List<Call> CALLS =
      List.of(
          new Call("listen", id -> id.listen(0x99), from(IDLE, LISTEN)),
          new Call("REQ", id -> id.sendReq(Pair.req(0x77)), from(IDLE, REQ_SENT)),
          new Call("REP", id -> id.sendRep(Pair.rep(0x78)), from(REQ_RCVD, REP_SENT, MRA_REQ_SENT, REP_SENT)),
          new Call("RTU", id -> id.sendRtu(NOTHING), from(REP_RCVD, ESTABLISHED, MRA_REP_SENT, ESTABLISHED)),
          new Call("DREQ", id -> id.sendDreq(NOTHING), from(ESTABLISHED, DREQ_SENT)),
          new Call("DREP", id -> id.sendDrep(NOTHING), from(DREQ_RCVD, TIMEWAIT)),
          new Call(
              "REJ",
              id -> id.sendRej(28, NOTHING, NOTHING),
              from(
                  REQ_SENT, IDLE, REQ_RCVD, IDLE, MRA_REQ_SENT, IDLE, CmState.MRA_REQ_RCVD, IDLE, REP_RCVD, IDLE,
                  MRA_REP_SENT, IDLE, REP_SENT, TIMEWAIT, CmState.MRA_REP_RCVD, TIMEWAIT)),
          new Call("MRA", id -> id.sendMra(24, NOTHING), from(REQ_RCVD, MRA_REQ_SENT, REP_RCVD, MRA_REP_SENT)),
          new Call(
              "first packet", CmId::notifyEstablished, from(REP_SENT, ESTABLISHED, CmState.MRA_REP_RCVD, ESTABLISHED)),
          new Call(
              "SIDR_REQ", id -> id.sendSidrReq(Pair.path(), 1, 10, 0, NOTHING), from(IDLE, SIDR_REQ_SENT)),
          new Call(
              "SIDR_REP",
              id -> id.sendSidrRep(SidrStatus.SUCCESS, 1, 1, NOTHING, NOTHING),
              from(SIDR_REQ_RCVD, IDLE)));

  @TestFactory
  Stream<DynamicTest> calls() {
    return CALLS.stream()
        .flatMap(
            call ->
                Stream.of(CmState.values())
                    .map(state -> DynamicTest.dynamicTest(call.name() + " in " + state, () -> check(call, state))));
  }

  private static void check(Call call, CmState state) {
    Ends ends = new Ends();
    CmId id = ends.in(state);
    assertEquals(state, id.state());
    CmState next = call.allowed().get(state);
    if (next != null) {
      call.code().accept(id);
      assertEquals(next, id.state());
    } else {
      Errno expected = call.name().equals("first packet") && state == ESTABLISHED ? Errno.EISCONN : Errno.EINVAL;
      assertEquals(expected, assertThrows(VerbsException.class, () -> call.code().accept(id)).errno());
      assertEquals(state, id.state(), "a refused call changes nothing");
    }
    ends.close();
  }

  @TestFactory
  Stream<DynamicTest> destroying() {
    return Stream.of(CmState.values())
        .map(
            state ->
                DynamicTest.dynamicTest(
                    "destroy in " + state,
                    () -> {
                      Ends ends = new Ends();
                      CmId id = ends.in(state);
                      id.destroy();
                      id.destroy();
                      ends.pair.time.runUntil(ends.pair.time.now() + 5);
                      ends.close();
                    }));
  }
}
