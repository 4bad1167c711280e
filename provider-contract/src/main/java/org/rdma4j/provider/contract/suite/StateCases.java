package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** The states of a queue pair, and what each of them allows (IBA specification 10.3.1). */
final class StateCases {
  private StateCases() {}

  static void add(CaseList list) {
    list.add("qp.state.up", "RESET, INIT, RTR, RTS: each step is seen by a query.", StateCases::up);
    list.add("qp.state.illegal", "A transition that there is not is refused with EINVAL and changes nothing.",
        StateCases::illegal);
    list.add("qp.state.missing", "A transition without a mandatory attribute is refused with EINVAL.",
        StateCases::missing);
    list.add("qp.state.current", "A wrong current state is refused with EINVAL.", StateCases::current);
    list.add("qp.query", "A query tells the attributes that were set.", StateCases::query);
    list.add("qp.modify.mtu", "A path MTU beyond the active one is refused with EINVAL.", StateCases::mtu);
    list.add("qp.modify.rights", "The rights of the peer can be changed in RTS.", StateCases::rights);
    list.add("qp.post.states", "Sends are refused below RTS and receives in RESET, with EINVAL.", StateCases::posting);
    list.add("qp.rtr.receives", "A queue pair in RTR receives.", StateCases::receivesInRtr);
    list.add("qp.reset.forgets", "RESET drops what is posted without completions; the queue pair works again.",
        StateCases::reset);
    list.add("qp.err.flushes", "ERR completes everything posted as flushed, in order, and what is posted later.",
        StateCases::err);
    list.add("qp.destroy.drops", "Destroying a queue pair drops its work; what was completed stays.",
        StateCases::destroy);
    list.add("qp.drain", "After a drain all that was posted has its completion.", StateCases::drain);
    list.add("qp.sqd", "SQD finishes what is under way and holds what comes, until RTS.", StateCases::sqd);
  }

  private static void up(Bench bench) {
    for (QpType type : new QpType[] {QpType.RC, QpType.UC, QpType.UD}) {
      if (type == QpType.UC && Need.UC.missing(bench.deviceA()) != null
          || type == QpType.UD && Need.UD.missing(bench.deviceA()) != null) {
        continue;
      }
      Side a = bench.a().with(type);
      Side b = bench.b();
      a.qp().modify(a.toInit(type, Way.USUAL));
      Check.equal(QpState.INIT, a.qp().query().state(), "the state of " + type);
      a.qp().modify(a.toRtr(type, b, 77, Way.USUAL));
      Check.equal(QpState.RTR, a.qp().query().state(), "the state of " + type);
      a.qp().modify(a.toRts(type, Way.USUAL));
      Check.equal(QpState.RTS, a.qp().query().state(), "the state of " + type);
      Check.equal(QpState.RTS, a.qp().state(), "the state of " + type);
    }
  }

  private static void illegal(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Side b = bench.b();
    Check.invalid("RESET to RTR", () -> a.qp().modify(a.toRtr(QpType.RC, b, 77, Way.USUAL)));
    Check.invalid("RESET to RTS", () -> a.qp().modify(a.toRts(QpType.RC, Way.USUAL)));
    Check.equal(QpState.RESET, a.qp().query().state(), "the state after refusals");
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    Check.invalid("INIT to RTS", () -> a.qp().modify(a.toRts(QpType.RC, Way.USUAL)));
    Check.invalid("INIT to SQD", () -> a.qp().modify(new QpAttributes().state(QpState.SQD)));
    Check.equal(QpState.INIT, a.qp().query().state(), "the state after refusals");
    a.qp().modify(a.toRtr(QpType.RC, b, 77, Way.USUAL));
    a.qp().modify(a.toRts(QpType.RC, Way.USUAL));
    Check.invalid("RTS to INIT", () -> a.qp().modify(a.toInit(QpType.RC, Way.USUAL)));
    a.qp().modify(new QpAttributes().state(QpState.ERR));
    Check.invalid("ERR to INIT", () -> a.qp().modify(a.toInit(QpType.RC, Way.USUAL)));
    Check.equal(QpState.ERR, a.qp().query().state(), "the state after refusals");
  }

  private static void missing(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Check.invalid("INIT without a port", () -> a.qp().modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0)));
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    Check.invalid("RTR without anything", () -> a.qp().modify(new QpAttributes().state(QpState.RTR)));
    Check.invalid(
        "RTR with what it does not take",
        () -> a.qp().modify(a.toRtr(QpType.RC, a, 1, Way.USUAL).qkey(1)));
  }

  private static void current(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Check.invalid(
        "the current state RTR in RTS",
        () -> pair.a().qp().modify(new QpAttributes().state(QpState.RTS).currentState(QpState.RTR)));
    pair.a().qp().modify(new QpAttributes().state(QpState.RTS).currentState(QpState.RTS));
  }

  private static void query(Bench bench) {
    Pair pair = bench.pair(QpType.RC, Way.usual().timeout(15, 5).rnrRetries(6).mtu(PathMtu.MTU_512));
    QpAttributes found = pair.a().qp().query();
    Check.equal(pair.b().qp().number(), found.destQpNumber(), "the peer's number");
    Check.equal(PathMtu.MTU_512, found.pathMtu(), "the path MTU");
    Check.equal(15, found.timeout(), "the timeout");
    Check.equal(5, found.retryCount(), "the retry count");
    Check.equal(6, found.rnrRetry(), "the RNR retry count");
    Check.equal(pair.a().port, found.port(), "the port");
    Check.equal(0, found.pkeyIndex(), "the P_Key index");
    Check.equal(pair.b().gid.gid(), found.addressVector().destinationGid(), "the peer's GID");
    Check.that(found.access().contains(Access.REMOTE_WRITE), "the peer's right to write is not told");
    Check.equal(pair.a().qp().capabilities(), found.capabilities(), "the sizes");
  }

  private static void mtu(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    PathMtu active = a.device.port(a.port).activeMtu();
    if (active == PathMtu.MTU_4096) {
      throw new Skipped("the active MTU of " + a + " is the largest that there is");
    }
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    Check.invalid(
        "a path MTU beyond " + active,
        () -> a.qp().modify(a.toRtr(QpType.RC, a, 1, Way.usual().mtu(PathMtu.MTU_4096))));
  }

  private static void rights(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().qp().modify(new QpAttributes().access(Set.of()));
    pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, 8, pair.b(), 0));
    pair.a().failed(1, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_ACCESS_ERR);
  }

  private static void posting(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Check.invalid("a receive in RESET", () -> a.postReceive(1, 0, 8));
    Check.invalid("a send in RESET", () -> a.postSend(a.send(1, 0, 8)));
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    a.postReceive(1, 0, 8);
    Check.invalid("a send in INIT", () -> a.postSend(a.send(1, 0, 8)));
    a.qp().modify(a.toRtr(QpType.RC, a, 77, Way.USUAL));
    a.postReceive(2, 0, 8);
    Check.invalid("a send in RTR", () -> a.postSend(a.send(1, 0, 8)));
  }

  private static void receivesInRtr(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Side b = bench.b().with(QpType.RC);
    b.qp().modify(b.toInit(QpType.RC, Way.USUAL));
    b.postReceive(1, 0, 100);
    b.qp().modify(b.toRtr(QpType.RC, a, a.qp().number(), Way.USUAL));
    a.connect(a.qp(), b, b.qp().number(), Way.USUAL);
    a.fill(0, 60, 3);
    a.postSend(a.send(2, 0, 60));
    b.received(1, 60);
    a.done(2, WcOpcode.SEND);
    b.verify(0, 60, 3);
  }

  private static void reset(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    for (int i = 0; i < 5; i++) {
      a.postReceive(i, 0, 100);
      a.postSend(a.send(100 + i, 0, 10)); // The peer has no receive.
    }
    pair.reconnect();
    a.nothing();
    for (int i = 0; i < 3; i++) {
      a.fill(0, 2000, i);
      pair.b().postReceive(20 + i, 0, 2000);
      a.postSend(a.send(10 + i, 0, 2000));
      pair.b().received(20 + i, 2000);
      a.done(10 + i, WcOpcode.SEND);
      pair.b().verify(0, 2000, i);
    }
  }

  private static void err(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    for (int i = 0; i < 5; i++) {
      a.postReceive(100 + i, 0, 100);
      a.postSend(a.send(i, 0, 10)); // The peer has no receive.
    }
    a.qp().modify(new QpAttributes().state(QpState.ERR));
    a.postReceive(105, 0, 100);
    a.postSend(a.send(5, 0, 10));
    int sends = 0;
    int receives = 0;
    while (sends + receives < 12) {
      WorkCompletion next = a.next();
      Check.equal(WcStatus.WR_FLUSH_ERR, next.status(), "the status of " + next);
      int expected = next.wrId() < 100 ? sends++ : 100 + receives++;
      Check.equal((long) expected, next.wrId(), "wr_id, in the order of posting,");
    }
    a.nothing();
    Check.equal(QpState.ERR, a.qp().query().state(), "the state");
  }

  private static void destroy(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    a.postSend(a.send(2, 0, 10));
    pair.b().received(1, 10);
    WorkCompletion[] one = WorkCompletion.batch(1);
    a.postReceive(3, 0, 10);
    a.postSend(a.send(4, 0, 10)); // The peer has no receive.
    Side.done(Side.next(a.cq, "a completion"), 2, WcOpcode.SEND);
    a.qp().destroy();
    Check.equal(0, a.cq.poll(one), "the number of completions after the end of the queue pair");
  }

  private static void drain(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 5; i++) {
      pair.a().postReceive(i, 0, 100);
    }
    pair.a().qp().drain(Duration.ofSeconds(20));
    WorkCompletion[] batch = WorkCompletion.batch(8);
    Check.equal(5, pair.a().cq.poll(batch), "the number of completions");
    for (int i = 0; i < 5; i++) {
      Check.equal((long) i, batch[i].wrId(), "wr_id");
      Check.equal(WcStatus.WR_FLUSH_ERR, batch[i].status(), "the status");
    }
    Check.equal(QpState.ERR, pair.a().qp().state(), "the state");
  }

  private static void sqd(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    try {
      a.qp().modify(new QpAttributes().state(QpState.SQD).sqdAsyncNotify(true));
    } catch (VerbsException e) {
      if (e.errno() == Errno.EINVAL || e.errno() == Errno.EOPNOTSUPP) {
        throw new Skipped(a + " has no way from RTS to SQD: " + e.getMessage());
      }
      throw e;
    }
    Check.equal(AsyncEventType.SQ_DRAINED, a.context.getAsyncEvent(Duration.ofSeconds(20)).type(), "the event");
    pair.b().postReceive(1, 0, 100);
    a.postSend(a.send(2, 0, 10));
    a.nothing();
    pair.b().nothing();
    a.qp().modify(new QpAttributes().state(QpState.RTS));
    pair.b().received(1, 10);
    a.done(2, WcOpcode.SEND);
  }
}
