package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.ib.core.verbs.XrcDomain;
import org.rdma4j.ib.core.verbs.XrcOpenFlag;

/** Receives shared by queue pairs, and the connections that need them. */
final class SharedReceiveCases {
  private static final int SLOT = 8192;

  private SharedReceiveCases() {}

  static void add(CaseList list) {
    list.add("srq.send.bytes", "Messages to several queue pairs take the receives of their shared queue.",
        SharedReceiveCases::bytes, Need.SRQ);
    list.add("srq.write.immediate", "A WRITE with immediate takes a shared receive.", SharedReceiveCases::immediate,
        Need.SRQ);
    list.add("srq.ring-wrap", "A shared queue goes round many times.", SharedReceiveCases::wrap, Need.SRQ);
    list.add("srq.ud", "Datagrams take shared receives.", SharedReceiveCases::datagrams, Need.SRQ, Need.UD);
    list.add("srq.post-to-qp", "A queue pair with a shared queue takes no receives of its own: EINVAL.",
        SharedReceiveCases::postToQp, Need.SRQ);
    list.add("srq.query", "A query tells size and armed limit.", SharedReceiveCases::query, Need.SRQ);
    list.add("srq.limit-event", "Below its armed limit a shared queue raises one event.", SharedReceiveCases::limit,
        Need.SRQ);
    list.add("srq.last-wqe", "A queue pair in ERR tells by an event that it takes nothing of the shared queue more.",
        SharedReceiveCases::lastWqe, Need.SRQ);
    list.add("srq.keeps", "Receives that a queue pair did not take stay for the others.", SharedReceiveCases::keeps,
        Need.SRQ);
    list.add("srq.resize", "A shared queue keeps its receives when it is resized.", SharedReceiveCases::resize,
        Need.SRQ, Need.SRQ_RESIZE);
    list.add("xrc.send.bytes", "A SEND of XRC takes the receive of the shared queue it names.",
        SharedReceiveCases::xrcSend, Need.XRC);
    list.add("xrc.write.bytes", "A WRITE and a READ of XRC reach the memory of the shared queue's domain.",
        SharedReceiveCases::xrcWrite, Need.XRC, Need.READ);
    list.add("xrc.two-queues", "One connection feeds several shared queues.", SharedReceiveCases::xrcQueues, Need.XRC);
    list.add("xrc.domain.shared", "Who opens the name of a domain shares it, with all that CREATE and EXCLUSIVE say.",
        SharedReceiveCases::xrcDomain, Need.XRC);
    list.add("xrc.busy", "An XRC domain in use is not destroyed: EBUSY.", SharedReceiveCases::xrcBusy, Need.XRC);
  }

  /** A receiver with a shared queue, and two senders. */
  private record Shared(Side b, SharedReceiveQueue srq, Pair one, Pair two, QueuePair second) {
    static Shared open(Bench bench, QpType type, int size) {
      Side b = bench.b();
      SharedReceiveQueue srq = b.pd.createSrq(new SrqInitAttributes(size, 1));
      b.with(b.init(type).srq(srq));
      Pair one = new Pair(bench.a().with(type), b, Way.USUAL);
      one.connect();
      QueuePair second = b.pd.createQp(b.init(type).srq(srq));
      Side a2 = bench.a().with(type);
      a2.connect(a2.qp(), b, second.number(), Way.USUAL);
      b.connect(second, a2, a2.qp().number(), Way.USUAL);
      return new Shared(b, srq, one, new Pair(a2, b, Way.USUAL), second);
    }

    void post(long id) {
      srq.postReceive(b.receive(id, id % 16 * SLOT, SLOT));
    }

    void send(Pair from, int length, int seed) {
      from.a().fill(0, length, seed);
      from.a().postSend(from.a().send(seed, 0, length));
      from.a().done(seed, WcOpcode.SEND);
    }

    void received(long id, QueuePair by, int length, int seed) {
      WorkCompletion received = b.received(id, length);
      Check.equal(by.number(), received.qpNumber(), "the QP number of " + received);
      b.verify(id % 16 * SLOT, length, seed);
    }
  }

  private static AsyncEvent event(Side side, AsyncEventType wanted) {
    Patience patience = new Patience();
    while (patience.waits()) {
      AsyncEvent event = side.context.getAsyncEvent(Duration.ofMillis(100));
      if (event != null && event.type() != AsyncEventType.COMM_EST) {
        Check.equal(wanted, event.type(), "the event");
        return event;
      }
    }
    throw new Broken("the event " + wanted + " does not come");
  }

  private static void bytes(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 16);
    for (int i = 0; i < 8; i++) {
      s.post(i);
    }
    for (int i = 0; i < 8; i++) {
      s.send(i % 2 == 0 ? s.one : s.two, 1000 * i, i);
      s.received(i, i % 2 == 0 ? s.b.qp() : s.second, 1000 * i, i);
    }
    s.b.nothing();
  }

  private static void immediate(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 16);
    s.post(1);
    Side a = s.one.a();
    a.fill(0, 3000, 1);
    a.postSend(a.remote(WrOpcode.RDMA_WRITE_WITH_IMM, 2, 0, 3000, s.b, 100_000).immediate(99));
    a.done(2, WcOpcode.RDMA_WRITE);
    Check.equal(99, s.b.done(1, WcOpcode.RECV_RDMA_WITH_IMM).immediate(), "the immediate data");
    s.b.verify(100_000, 3000, 1);
    s.b.untouched(SLOT, 100);
  }

  private static void wrap(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 5);
    for (int i = 0; i < 60; i++) {
      s.post(i);
      s.send(i % 3 == 0 ? s.one : s.two, 50 + i, i);
      s.received(i, i % 3 == 0 ? s.b.qp() : s.second, 50 + i, i);
    }
  }

  private static void datagrams(Bench bench) {
    Side b = bench.b();
    SharedReceiveQueue srq = b.pd.createSrq(new SrqInitAttributes(8, 1));
    b.with(b.init(QpType.UD).srq(srq));
    Pair pair = new Pair(bench.a().with(QpType.UD), b, Way.USUAL);
    pair.connect();
    for (int i = 0; i < 10; i++) {
      srq.postReceive(b.receive(i, 0, 1024));
      pair.a().fill(0, 200, i);
      pair.a().postSend(Datagrams.to(pair, pair.a().send(i, 0, 200)));
      pair.a().done(i, WcOpcode.SEND);
      b.received(i, 200 + Side.GRH);
      b.verify(Side.GRH, 200, i);
    }
  }

  private static void postToQp(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 4);
    Check.invalid("a receive for a queue pair with a shared queue", () -> s.b.postReceive(1, 0, 8));
  }

  private static void query(Bench bench) {
    Side b = bench.b();
    SharedReceiveQueue srq = b.pd.createSrq(new SrqInitAttributes(9, 1));
    Check.that(srq.query().maxWr() >= 9, "a shared queue of 9 has " + srq.query().maxWr());
    Check.equal(0, srq.query().limit(), "the limit");
    for (int i = 0; i < 5; i++) {
      srq.postReceive(b.receive(i, 0, 8)); // With fewer than the limit a device may tell at once.
    }
    srq.modifyLimit(3);
    Check.equal(3, srq.query().limit(), "the limit");
    Check.invalid("a limit beyond the size", () -> srq.modifyLimit(srq.query().maxWr() + 1));
    srq.modifyLimit(0);
    Check.equal(0, srq.query().limit(), "the limit");
  }

  private static void limit(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 8);
    s.post(0);
    s.post(1);
    s.post(2);
    s.srq.modifyLimit(2);
    s.send(s.one, 100, 0);
    s.received(0, s.b.qp(), 100, 0);
    s.send(s.one, 100, 1);
    s.received(1, s.b.qp(), 100, 1);
    Check.equal(s.srq, event(s.b, AsyncEventType.SRQ_LIMIT_REACHED).element(), "the queue of the event");
    Check.equal(0, s.srq.query().limit(), "the limit after its event");
  }

  private static void lastWqe(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 4);
    s.post(0);
    s.send(s.one, 100, 0);
    s.received(0, s.b.qp(), 100, 0);
    s.b.qp().modify(new QpAttributes().state(QpState.ERR));
    Check.equal(s.b.qp(), event(s.b, AsyncEventType.QP_LAST_WQE_REACHED).element(), "the queue pair of the event");
  }

  private static void keeps(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 4);
    s.post(0);
    s.post(1);
    s.b.qp().modify(new QpAttributes().state(QpState.ERR));
    s.b.qp().destroy();
    s.send(s.two, 100, 5);
    s.received(0, s.second, 100, 5);
    s.send(s.two, 100, 6);
    s.received(1, s.second, 100, 6);
    s.b.nothing();
  }

  private static void resize(Bench bench) {
    Shared s = Shared.open(bench, QpType.RC, 4);
    s.post(0);
    s.post(1);
    s.srq.resize(12);
    Check.that(s.srq.query().maxWr() >= 12, "the size is " + s.srq.query().maxWr());
    for (int i = 2; i < 12; i++) {
      s.post(i);
    }
    Check.refused("a size below what is posted", () -> s.srq.resize(1), Errno.EINVAL);
    for (int i = 0; i < 12; i++) {
      s.send(s.one, 10 + i, i);
      s.received(i, s.b.qp(), 10 + i, i);
    }
  }

  /** A connection of XRC: an initiator, a target, and a shared queue in the target's domain. */
  private record Extended(Side a, Side b, XrcDomain domain, SharedReceiveQueue srq, QueuePair target) {
    static Extended open(Bench bench) {
      Side b = bench.b();
      Side a = bench.a();
      XrcDomain domain = b.context.openXrcd(null, XrcOpenFlag.CREATE);
      SharedReceiveQueue srq = b.pd.createSrq(new SrqInitAttributes(8, 1, domain, b.cq));
      QueuePair target = domain.createQp(new QpInitAttributes(QpType.XRC_TGT));
      a.with(new QpInitAttributes(QpType.XRC_INI).sendCq(a.cq).capabilities(a.sizes()));
      target.modify(b.toInit(QpType.XRC_TGT, Way.USUAL));
      target.modify(b.toRtr(QpType.XRC_TGT, a, a.qp().number(), Way.USUAL));
      a.connect(a.qp(), b, target.number(), Way.USUAL);
      return new Extended(a, b, domain, srq, target);
    }

    SendWorkRequest named(SendWorkRequest request) {
      return request.xrcSrqNumber(srq.srqNumber());
    }
  }

  private static void xrcSend(Bench bench) {
    Extended x = Extended.open(bench);
    for (int length : new int[] {0, 1, 1024, 5000}) {
      x.a.fill(0, length, length);
      x.srq.postReceive(x.b.receive(1, 0, SLOT));
      x.a.postSend(x.named(x.a.send(2, 0, length).opcode(WrOpcode.SEND_WITH_IMM).immediate(length)));
      x.a.done(2, WcOpcode.SEND);
      WorkCompletion received = x.b.received(1, length);
      Check.equal(length, received.immediate(), "the immediate data");
      Check.equal(x.target.number(), received.qpNumber(), "the QP number of " + received);
      x.b.verify(0, length, length);
    }
  }

  private static void xrcWrite(Bench bench) {
    Extended x = Extended.open(bench);
    x.a.fill(0, 5000, 1);
    x.a.postSend(x.named(x.a.remote(WrOpcode.RDMA_WRITE, 1, 0, 5000, x.b, 100)));
    x.a.done(1, WcOpcode.RDMA_WRITE);
    x.b.verify(100, 5000, 1);
    x.a.postSend(x.named(x.a.remote(WrOpcode.RDMA_READ, 2, SLOT, 5000, x.b, 100)));
    x.a.done(2, WcOpcode.RDMA_READ);
    x.a.verify(SLOT, 5000, 1);
  }

  private static void xrcQueues(Bench bench) {
    Extended x = Extended.open(bench);
    SharedReceiveQueue other = x.b.pd.createSrq(new SrqInitAttributes(4, 1, x.domain, x.b.cq));
    x.srq.postReceive(x.b.receive(1, 0, 100));
    other.postReceive(x.b.receive(2, SLOT, 100));
    x.a.fill(0, 50, 4);
    x.a.postSend(x.a.send(3, 0, 50).xrcSrqNumber(other.srqNumber()));
    x.a.done(3, WcOpcode.SEND);
    x.b.received(2, 50);
    x.b.verify(SLOT, 50, 4);
    x.a.postSend(x.named(x.a.send(4, 0, 50)));
    x.a.done(4, WcOpcode.SEND);
    x.b.received(1, 50);
    x.b.nothing();
  }

  private static void xrcDomain(Bench bench) {
    Side one = bench.b();
    Side other = bench.b();
    String name = "contract " + bench.random().nextLong();
    Check.refused("a domain that nobody has made", () -> one.context.openXrcd(name), Errno.EAGAIN);
    XrcDomain first = one.context.openXrcd(name, XrcOpenFlag.CREATE, XrcOpenFlag.EXCLUSIVE);
    XrcDomain second = other.context.openXrcd(name);
    Check.equal(first.number(), second.number(), "the number of the shared domain");
    Check.invalid(
        "a second exclusive domain",
        () -> other.context.openXrcd(name, XrcOpenFlag.CREATE, XrcOpenFlag.EXCLUSIVE));
    first.destroy();
    second.destroy();
    Check.refused("a domain that is over", () -> one.context.openXrcd(name), Errno.EAGAIN);
  }

  private static void xrcBusy(Bench bench) {
    Extended x = Extended.open(bench);
    VerbsException refused = Check.refused("the end of a domain in use", x.domain::destroy, Errno.EBUSY);
    Check.that(refused.getMessage().contains("used by"), "the message is " + refused.getMessage());
    for (VerbsObject each : new VerbsObject[] {x.srq, x.target}) {
      each.destroy();
    }
    x.domain.destroy();
  }
}
