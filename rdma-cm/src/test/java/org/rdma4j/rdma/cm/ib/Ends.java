package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.TIMEWAIT;

import java.util.ArrayList;
import java.util.List;

/** Two ends, of which one is brought into a state. */
final class Ends {
  private static final byte[] NOTHING = {};

  /** An event, and when it came. */
  record Told(CmId id, CmEvent event, long at) {}

  final Pair pair = new Pair();
  final List<CmId> passive = new ArrayList<>();
  final List<Told> told = new ArrayList<>();
  final CmId listener = pair.b.create(pair.portB, this::asked);
  final CmId active = pair.a.create(pair.portA, this::note);

  private CmHandler.Verdict asked(CmId id, CmEvent event) {
    if (!passive.contains(id)) {
      passive.add(id);
    }
    return note(id, event);
  }

  private CmHandler.Verdict note(CmId id, CmEvent event) {
    told.add(new Told(id, event, pair.time.now()));
    return CmHandler.Verdict.KEEP;
  }

  /** The port of one of the ids. */
  SimulatedPort port(CmId id) {
    return (SimulatedPort) id.port();
  }

  /** The manager of one of the ids. */
  IbCm manager(CmId id) {
    return id == active ? pair.a : pair.b;
  }

  private void pass() {
    pair.time.runUntil(pair.time.now() + 3);
  }

  CmId in(CmState state) {
    if (state == IDLE) {
      return active;
    }
    listener.listen(Pair.SERVICE);
    return switch (state) {
      case LISTEN -> listener;
      case SIDR_REQ_SENT, SIDR_REQ_RCVD -> question(state);
      case REQ_SENT, REQ_RCVD, MRA_REQ_SENT, MRA_REQ_RCVD -> asking(state);
      case REP_SENT, REP_RCVD, MRA_REP_SENT, MRA_REP_RCVD -> answered(state);
      default -> ended(state);
    };
  }

  private CmId question(CmState state) {
    active.sendSidrReq(Pair.path(), Pair.SERVICE, 1000, 2, NOTHING);
    pass();
    return state == SIDR_REQ_SENT ? active : passive.getFirst();
  }

  private CmId asking(CmState state) {
    active.sendReq(Pair.req(0x11));
    pass();
    if (state == MRA_REQ_SENT || state == MRA_REQ_RCVD) {
      passive.getFirst().sendMra(20, NOTHING);
      pass();
    }
    return state == REQ_SENT || state == MRA_REQ_RCVD ? active : passive.getFirst();
  }

  private CmId answered(CmState state) {
    asking(REQ_RCVD).sendRep(Pair.rep(0x22));
    pass();
    if (state == MRA_REP_SENT || state == MRA_REP_RCVD) {
      active.sendMra(20, NOTHING);
      pass();
    }
    return state == REP_RCVD || state == MRA_REP_SENT ? active : passive.getFirst();
  }

  private CmId ended(CmState state) {
    CmId accepted = answered(REP_SENT);
    active.sendRtu(NOTHING);
    pass();
    if (state == ESTABLISHED) {
      return active;
    }
    accepted.sendDreq(NOTHING);
    pass();
    if (state == TIMEWAIT) {
      active.sendDrep(NOTHING);
      pass();
    }
    return state == DREQ_SENT ? accepted : active;
  }

  void close() {
    active.destroy();
    passive.forEach(CmId::destroy);
    listener.destroy();
    pair.time.runAll(1_000);
    assertEquals(0, pair.a.size());
    assertEquals(0, pair.b.size());
    assertEquals(0, pair.portA.outstanding);
    assertEquals(0, pair.portB.outstanding);
  }
}
