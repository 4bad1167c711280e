package org.rdma4j.provider.contract.suite;

import java.util.HashSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Objects and their rules: how they are made, who needs whom, in which order they end. */
final class ObjectCases {
  private ObjectCases() {}

  static void add(CaseList list) {
    list.add("object.end-twice", "Destroying what is destroyed already does nothing.", ObjectCases::endTwice);
    list.add("object.use-after-end", "A destroyed object refuses every call with EINVAL.", ObjectCases::useAfterEnd);
    list.add("object.numbers", "Objects of one kind have numbers of their own.", ObjectCases::numbers);
    list.add("object.again", "What was destroyed can be made again and again.", ObjectCases::again);
    list.add("pd.busy", "A protection domain in use is not destroyed: EBUSY, naming who uses it.", ObjectCases::busyPd);
    list.add("cq.busy", "A completion queue in use is not destroyed: EBUSY, naming who uses it.", ObjectCases::busyCq);
    list.add("channel.busy", "A completion channel in use is not destroyed: EBUSY.", ObjectCases::busyChannel);
    list.add("srq.busy", "A shared receive queue in use is not destroyed: EBUSY.", ObjectCases::busySrq, Need.SRQ);
    list.add("qp.create.sizes", "A queue pair has at least the sizes asked for.", ObjectCases::sizes);
    list.add("qp.create.reset", "A new queue pair is in RESET and has a number of 24 bits.", ObjectCases::fresh);
    list.add("qp.create.needs-cq", "A queue pair without its completion queue is refused with EINVAL.",
        ObjectCases::needsCq);
    list.add("qp.create.foreign", "Objects of another context are refused with EINVAL.", ObjectCases::foreign);
    list.add("qp.two-cqs", "Sends and receives complete in the queues chosen for them.", ObjectCases::twoCqs);
    list.add("ah.create", "An address handle keeps its way, and needs a port and a GID that are there.",
        ObjectCases::addressHandle, Need.UD);
    list.add("context.apart", "Closing a context ends what it has made, and nothing of others.", ObjectCases::apart);
    list.add("context.close", "Closing a context ends all that is left in it, work under way included.",
        ObjectCases::closeContext);
  }

  private static void endTwice(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    for (VerbsObject each : new VerbsObject[] {a.qp(), a.cq, a.region, a.pd}) {
      each.destroy();
      each.destroy();
      each.close();
    }
  }

  private static void useAfterEnd(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    a.qp().destroy();
    Check.invalid("the query of a destroyed queue pair", () -> a.qp().query());
    Check.invalid("the change of a destroyed queue pair", () -> a.qp().modify(a.toInit(QpType.RC, Way.USUAL)));
    Check.refused("posting to a destroyed queue pair", () -> a.postReceive(1, 0, 8), Errno.EINVAL, Errno.EIO);
    a.cq.destroy();
    Check.refused("polling a destroyed queue", () -> a.cq.poll(WorkCompletion.batch(1)), Errno.EINVAL, Errno.EIO);
    a.region.destroy();
    a.pd.destroy();
    Check.invalid("registering in a destroyed domain", () -> a.pd.registerMemory(a.memory));
  }

  private static void numbers(Bench bench) {
    Side a = bench.a();
    Set<Integer> qps = new HashSet<>();
    Set<Integer> pds = new HashSet<>();
    Set<Integer> keys = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      ProtectionDomain pd = a.context.allocatePd();
      Check.that(pds.add(pd.id()), pd + " has a number that another has");
      QueuePair qp = pd.createQp(a.init(QpType.RC));
      Check.that(qps.add(qp.number()), qp + " has a number that another has");
      MemoryRegion mr = pd.registerMemory(a.memory, a.rights());
      Check.that(keys.add(mr.lkey()), mr + " has a local key that another has");
    }
  }

  private static void again(Bench bench) {
    Side a = bench.a();
    for (int i = 0; i < 20; i++) {
      ProtectionDomain pd = a.context.allocatePd();
      CompletionQueue cq = a.context.createCq(16, null, 0);
      MemoryRegion mr = pd.registerMemory(a.memory);
      QueuePair qp = pd.createQp(new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq));
      qp.modify(a.toInit(QpType.RC, Way.USUAL));
      qp.destroy();
      mr.destroy();
      cq.destroy();
      pd.destroy();
    }
  }

  private static void busy(VerbsObject used, VerbsObject user) {
    VerbsException refused = Check.refused("the end of " + used, used::destroy, Errno.EBUSY);
    Check.that(refused.getMessage().contains(user.label()), user.label() + " is not named: " + refused);
    user.destroy();
  }

  private static void busyPd(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    busy(a.pd, a.region);
    busy(a.pd, a.qp());
    a.pd.destroy();
  }

  private static void busyCq(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    busy(a.cq, a.qp());
    a.cq.destroy();
  }

  private static void busyChannel(Bench bench) {
    Side a = bench.a();
    CompletionChannel channel = a.context.createCompletionChannel();
    busy(channel, a.context.createCq(4, channel, 0));
    channel.destroy();
  }

  private static void busySrq(Bench bench) {
    Side a = bench.a();
    SharedReceiveQueue srq = a.pd.createSrq(new SrqInitAttributes(4, 1));
    a.with(a.init(QpType.RC).srq(srq));
    busy(srq, a.qp());
    srq.destroy();
  }

  private static void sizes(Bench bench) {
    Side a = bench.a();
    for (int n : new int[] {1, 2, 3, 17}) {
      QpCapabilities asked = new QpCapabilities(n, n + 1, 1, 1, 0);
      QueuePair qp = a.pd.createQp(a.init(QpType.RC).capabilities(asked));
      QpCapabilities got = qp.capabilities();
      Check.that(
          got.maxSendWr() >= n && got.maxRecvWr() >= n + 1 && got.maxSendSge() >= 1 && got.maxRecvSge() >= 1,
          "asked for " + asked + ", got " + got);
      qp.destroy();
    }
  }

  private static void fresh(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Check.equal(QpState.RESET, a.qp().state(), "the state");
    Check.equal(QpState.RESET, a.qp().query().state(), "the state as queried");
    Check.that(a.qp().number() > 0 && a.qp().number() <= 0xff_ffff, "the number is " + a.qp().number());
    Check.equal(QpType.RC, a.qp().type(), "the type");
  }

  private static void needsCq(Bench bench) {
    Side a = bench.a();
    Check.invalid("a queue pair without queues", () -> a.pd.createQp(new QpInitAttributes(QpType.RC)));
    Check.invalid(
        "a queue pair without a receive queue", () -> a.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(a.cq)));
  }

  private static void foreign(Bench bench) {
    Side a = bench.a();
    Side other = bench.a();
    Check.invalid("a completion queue of another context", () -> a.pd.createQp(other.init(QpType.RC)));
    CompletionChannel channel = other.context.createCompletionChannel();
    Check.invalid("a channel of another context", () -> a.context.createCq(4, channel, 0));
  }

  private static void twoCqs(Bench bench) {
    Side b = bench.b();
    CompletionQueue sends = b.context.createCq(16, null, 0);
    b.with(b.init(QpType.RC).sendCq(sends));
    Side a = bench.a().with(QpType.RC);
    new Pair(a, b, Way.USUAL).connect();
    b.postReceive(1, 0, 100);
    a.postReceive(2, 0, 100);
    a.postSend(a.send(3, 0, 10));
    b.received(1, 10);
    a.done(3, WcOpcode.SEND);
    b.postSend(b.send(4, 0, 10));
    Side.done(Side.next(sends, "the completion of a send"), 4, WcOpcode.SEND);
    a.received(2, 10);
    b.nothing();
  }

  private static void addressHandle(Bench bench) {
    Side a = bench.a();
    Side b = bench.b();
    AhAttributes way = a.path(b).withTrafficClass(4).withFlowLabel(0x12345);
    AddressHandle handle = a.pd.createAh(way);
    Check.equal(b.gid.gid(), handle.attributes().destinationGid(), "the destination");
    Check.equal(4, handle.attributes().trafficClass(), "the traffic class");
    Check.equal(a.pd, handle.protectionDomain(), "the protection domain");
    busy(a.pd, a.region);
    Check.refused("the end of a domain with a handle", a.pd::destroy, Errno.EBUSY);
    handle.destroy();
    int beyond = a.device.gidTable(a.port).size();
    Check.invalid("a source beyond the GID table", () -> a.pd.createAh(new AhAttributes(a.port, b.gid.gid(), beyond)));
    int noPort = a.device.portCount() + 1;
    Check.invalid("a port that is not there", () -> a.pd.createAh(new AhAttributes(noPort, b.gid.gid(), a.sgid())));
  }

  private static void apart(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side other = new Side(pair.a().device, pair.a().port).with(QpType.RC);
    other.qp().modify(other.toInit(QpType.RC, Way.USUAL));
    other.postReceive(1, 0, 100);
    other.close();
    Check.that(other.context.isClosed(), "the context is not closed");
    Check.refused("a call on a closed context", other.context::allocatePd, Errno.EINVAL);
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(pair.a().send(2, 0, 10));
    pair.b().received(1, 10);
    pair.a().done(2, WcOpcode.SEND);
  }

  private static void closeContext(Bench bench) {
    Side b = bench.b().with(QpType.RC);
    Side a = bench.a().with(QpType.RC);
    Pair pair = new Pair(a, b, Way.USUAL);
    pair.connect();
    for (int i = 0; i < 8; i++) {
      a.postSend(a.send(i, 0, 5000)); // The peer has no receive: they wait.
      a.postReceive(100 + i, 8192, 100);
    }
    Context context = a.context;
    context.close();
    context.close();
    Check.that(
        a.device.resources().queuePairs().stream().noneMatch(each -> each.owner().contextId() == context.id()),
        "a queue pair of the closed context is still listed");
  }
}
