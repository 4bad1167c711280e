package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Every limit a device tells is honoured, and one more is refused with the right error. */
final class LimitCases {
  /** More objects than this are not made: a person waits for the suite. */
  private static final long BUDGET = 2048;

  private LimitCases() {}

  /** Makes an object of a size, or the object of a number. */
  private interface Maker {
    VerbsObject make(int n);
  }

  static void add(CaseList list) {
    list.add("limit.max-cqe", "A completion queue has up to max_cqe entries, one more is EINVAL.", LimitCases::cqe);
    list.add("limit.max-qp-wr", "A queue pair has up to max_qp_wr requests, one more is EINVAL.", LimitCases::qpWr);
    list.add("limit.max-send-sge", "A send has up to max_send_sge buffers, one more is EINVAL.", LimitCases::sendSge);
    list.add("limit.max-recv-sge", "A receive has up to max_recv_sge buffers, one more is EINVAL.",
        LimitCases::recvSge);
    list.add("limit.max-inline-data", "Inline data has up to max_inline_data bytes, one more is EINVAL.",
        LimitCases::inline, Need.INLINE);
    list.add("limit.max-rd-atomic", "Outstanding READs are within the device's limits, one more is EINVAL.",
        LimitCases::readAtomics);
    list.add("limit.max-srq-wr", "A shared receive queue has up to max_srq_wr requests, one more is EINVAL.",
        LimitCases::srqWr, Need.SRQ);
    list.add("limit.max-srq-sge", "A shared receive has up to max_srq_sge buffers, one more is EINVAL.",
        LimitCases::srqSge, Need.SRQ);
    list.add("limit.completion-vectors", "Every completion vector can be used, one more is EINVAL.",
        LimitCases::vectors);
    list.add("limit.fast-reg-pages", "A fast registration has up to max_fast_reg_page_list_len pages.",
        LimitCases::pages, Need.FAST_REGISTRATION);
    objects(list, "limit.max-pd", DeviceLimit.MAX_PD, side -> i -> side.context.allocatePd());
    objects(list, "limit.max-cq", DeviceLimit.MAX_CQ, side -> i -> side.context.createCq(1, null, 0));
    objects(list, "limit.max-qp", DeviceLimit.MAX_QP, side -> i -> side.pd.createQp(small(side)));
    objects(list, "limit.max-mr", DeviceLimit.MAX_MR, side -> i -> side.pd.registerMemory(side.memory));
    objects(list, "limit.max-ah", DeviceLimit.MAX_AH, side -> i -> side.pd.createAh(side.path(side)), Need.UD);
    objects(list, "limit.max-srq", DeviceLimit.MAX_SRQ, side -> i -> side.pd.createSrq(new SrqInitAttributes(1, 1)),
        Need.SRQ);
    objects(list, "limit.max-mw", DeviceLimit.MAX_MW, side -> i -> side.pd.allocateMw(MwType.TYPE_2),
        Need.WINDOWS_2);
    list.add("limit.send-queue-full", "A full send queue refuses with ENOMEM, and loses nothing.",
        LimitCases::sendFull);
    list.add("limit.receive-queue-full", "A full receive queue refuses with ENOMEM, and loses nothing.",
        LimitCases::receiveFull);
    list.add("limit.srq-full", "A full shared receive queue refuses with ENOMEM.", LimitCases::srqFull, Need.SRQ);
    list.add("limit.too-many-buffers", "A request with more buffers than asked for at creation is EINVAL.",
        LimitCases::tooManyBuffers);
    list.add("cq.overflow", "A completion queue that overflows raises CQ_ERR, and its queue pairs go into ERR.",
        LimitCases::overflow);
    list.add("cq.resize", "A completion queue keeps its completions when it is resized.", LimitCases::resize,
        Need.CQ_RESIZE);
  }

  private static QpInitAttributes small(Side side) {
    return side.init(QpType.RC).capabilities(new QpCapabilities(1, 1, 1, 1, 0));
  }

  private static void objects(
      CaseList list,
      String name,
      DeviceLimit limit,
      Function<Side, Maker> maker,
      Need... needs) {
    list.add(
        name,
        "There can be " + limit.attributeName() + " objects of the kind, one more is ENOMEM, and they come back.",
        bench -> exhaust(bench, limit, maker),
        needs);
  }

  private static void exhaust(
      Bench bench, DeviceLimit limit, Function<Side, Maker> maker) {
    Side a = bench.a();
    long max = a.device.attributes().limit(limit);
    if (max > BUDGET) {
      throw new Skipped(limit.attributeName() + " of " + a + " is " + max + ": more than the " + BUDGET + " tried");
    }
    Maker make = maker.apply(a);
    List<VerbsObject> made = new ArrayList<>();
    VerbsException refusal = null;
    while (refusal == null && made.size() <= max) {
      try {
        made.add(make.make(made.size()));
      } catch (VerbsException e) {
        refusal = e;
      }
    }
    Check.that(refusal != null, "more than " + limit.attributeName() + " of " + max + " can be made");
    Check.equal(Errno.ENOMEM, refusal.errno(), "the error of one too many");
    int others = max == made.size() ? 0 : (int) max - made.size();
    Check.that(others <= max / 2, "only " + made.size() + " of " + max + " can be made: " + refusal);
    made.removeLast().destroy();
    made.add(make.make(made.size()));
    made.reversed().forEach(VerbsObject::destroy);
  }

  private static void sized(long max, String what, Maker make) {
    VerbsObject largest = make.make((int) Math.min(max, Integer.MAX_VALUE));
    largest.destroy();
    if (max < Integer.MAX_VALUE) {
      Check.invalid(what + " of " + (max + 1), () -> make.make((int) max + 1));
    }
    Check.invalid(what + " of -1", () -> make.make(-1));
  }

  private static void cqe(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_CQE), "a completion queue", n -> a.context.createCq(n, null, 0));
    Check.invalid("a completion queue without entries", () -> a.context.createCq(0, null, 0));
    CompletionQueue cq = a.context.createCq(5, null, 0);
    Check.that(cq.entries() >= 5, "a queue of 5 entries has " + cq.entries());
  }

  private static QueuePair qp(Side a, int sends, int receives, int sendSges, int receiveSges, int inline) {
    return a.pd.createQp(
        a.init(QpType.RC).capabilities(new QpCapabilities(sends, receives, sendSges, receiveSges, inline)));
  }

  private static void qpWr(Bench bench) {
    Side a = bench.a();
    int max = a.limit(DeviceLimit.MAX_QP_WR);
    sized(max, "a receive queue", n -> qp(a, 1, n, 1, 1, 0));
    sized(max, "a send queue", n -> qp(a, n, 1, 1, 1, 0));
  }

  private static void sendSge(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_SEND_SGE), "a send of buffers", n -> qp(a, 1, 1, n, 1, 0));
  }

  private static void recvSge(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_RECV_SGE), "a receive of buffers", n -> qp(a, 1, 1, 1, n, 0));
  }

  private static void inline(Bench bench) {
    Side a = bench.a();
    int max = a.limit(DeviceLimit.MAX_INLINE_DATA);
    sized(max, "inline data", n -> qp(a, 1, 1, 1, 1, n));
    a.with(a.init(QpType.RC).capabilities(new QpCapabilities(4, 4, 1, 1, max)));
    Side b = bench.b().with(QpType.RC);
    new Pair(a, b, Way.USUAL).connect();
    a.fill(0, max, 4);
    b.postReceive(1, 0, max);
    a.postSend(new SendWorkRequest().wrId(2).flags(SendFlag.SIGNALED).inlineData(a.memory.asSlice(0, max)));
    b.received(1, max);
    a.done(2, WcOpcode.SEND);
    b.verify(0, max, 4);
    int more = a.qp().capabilities().maxInlineData() + 1;
    Check.invalid(
        more + " bytes of inline data",
        () -> a.postSend(new SendWorkRequest().inlineData(a.memory.asSlice(0, more))));
  }

  private static void readAtomics(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Side b = bench.b();
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    int max = a.limit(DeviceLimit.MAX_QP_RD_ATOM);
    Check.invalid(
        "max_dest_rd_atomic of " + (max + 1),
        () -> a.qp().modify(a.toRtr(QpType.RC, b, 7, Way.USUAL).maxDestRdAtomic(max + 1)));
    a.qp().modify(a.toRtr(QpType.RC, b, 7, Way.USUAL).maxDestRdAtomic(max));
    int out = a.limit(DeviceLimit.MAX_QP_INIT_RD_ATOM);
    Check.invalid(
        "max_rd_atomic of " + (out + 1),
        () -> a.qp().modify(a.toRts(QpType.RC, Way.USUAL).maxRdAtomic(out + 1)));
    a.qp().modify(a.toRts(QpType.RC, Way.USUAL).maxRdAtomic(out));
  }

  private static void srqWr(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_SRQ_WR), "a shared queue", n -> a.pd.createSrq(new SrqInitAttributes(n, 1)));
  }

  private static void srqSge(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_SRQ_SGE), "a shared receive", n -> a.pd.createSrq(new SrqInitAttributes(1, n)));
  }

  private static void vectors(Bench bench) {
    Side a = bench.a();
    int vectors = a.device.attributes().completionVectors();
    for (int i = 0; i < vectors; i++) {
      a.context.createCq(1, null, i).destroy();
    }
    Check.invalid("the completion vector " + vectors, () -> a.context.createCq(1, null, vectors));
    Check.invalid("the completion vector -1", () -> a.context.createCq(1, null, -1));
  }

  private static void pages(Bench bench) {
    Side a = bench.a();
    sized(a.limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN), "a region of pages", n -> a.pd.allocateMr(n));
    Check.invalid("a region of no page", () -> a.pd.allocateMr(0));
  }

  /** Posts until the queue is full, which is at its size. */
  private static int full(int size, Runnable post, String what) {
    int posted = 0;
    while (posted <= size) {
      try {
        post.run();
        posted++;
      } catch (PostException e) {
        Check.equal(Errno.ENOMEM, e.errno(), "the error of " + what);
        Check.that(e.badWorkRequest() != null, "the refusal does not tell the bad request");
        Check.equal(size, posted, "the number of requests that " + what + " takes");
        return posted;
      }
    }
    throw new Broken(what + " of " + size + " takes " + posted);
  }

  private static void sendFull(Bench bench) {
    Side a = bench.a();
    a.with(a.init(QpType.RC).capabilities(new QpCapabilities(8, 4, 1, 1, 0)));
    Side b = bench.b().with(QpType.RC);
    new Pair(a, b, Way.USUAL).connect();
    int[] id = {0};
    int posted =
        full(
            a.qp().capabilities().maxSendWr(),
            () -> {
              a.postSend(a.send(id[0], 0, 8)); // The peer has no receive.
              id[0]++;
            },
            "the send queue");
    for (int i = 0; i < posted; i++) {
      b.postReceive(i, 0, 8);
      b.received(i, 8);
      a.done(i, WcOpcode.SEND);
    }
    b.postReceive(99, 0, 8);
    a.postSend(a.send(100, 0, 8));
    a.done(100, WcOpcode.SEND);
  }

  private static void receiveFull(Bench bench) {
    Side b = bench.b();
    b.with(b.init(QpType.RC).capabilities(new QpCapabilities(4, 8, 1, 1, 0)));
    Side a = bench.a().with(QpType.RC);
    new Pair(a, b, Way.USUAL).connect();
    int[] id = {0};
    int posted =
        full(
            b.qp().capabilities().maxRecvWr(),
            () -> {
              b.postReceive(id[0], 0, 8);
              id[0]++;
            },
            "the receive queue");
    for (int i = 0; i < posted; i++) {
      a.postSend(a.send(i, 0, 8));
      b.received(i, 8);
      a.done(i, WcOpcode.SEND);
    }
    b.postReceive(7, 0, 8);
  }

  private static void srqFull(Bench bench) {
    Side a = bench.a();
    SharedReceiveQueue srq = a.pd.createSrq(new SrqInitAttributes(6, 1));
    int size = srq.query().maxWr();
    Check.that(size >= 6, "a shared queue of 6 has " + size);
    full(
        size,
        () -> srq.postReceive(a.receive(1, 0, 8)),
        "the shared receive queue");
  }

  private static void tooManyBuffers(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    SendWorkRequest send = new SendWorkRequest();
    for (int i = 0; i <= a.qp().capabilities().maxSendSge(); i++) {
      send.addSge(a.region.address(), 1, a.region.lkey());
    }
    Check.invalid("a send of too many buffers", () -> a.postSend(send));
    ReceiveWorkRequest receive = new ReceiveWorkRequest();
    for (int i = 0; i <= a.qp().capabilities().maxRecvSge(); i++) {
      receive.addSge(a.region.address(), 1, a.region.lkey());
    }
    Check.invalid("a receive of too many buffers", () -> a.qp().postReceive(receive));
  }

  private static void overflow(Bench bench) {
    Side a = bench.a();
    CompletionQueue tiny = a.context.createCq(1, null, 0);
    int receives = 2 * (tiny.entries() + 2); // A ring may have a few slots more than it tells.
    if (receives > a.limit(DeviceLimit.MAX_QP_WR)) {
      throw new Skipped("the smallest completion queue of " + a + " has more entries than a queue pair has requests");
    }
    a.with(
        a.init(QpType.RC).recvCq(tiny).capabilities(new QpCapabilities(4, receives, 1, 1, 0)));
    a.qp().modify(a.toInit(QpType.RC, Way.USUAL));
    for (int i = 0; i < receives; i++) {
      a.postReceive(i, 0, 8);
    }
    a.qp().modify(new QpAttributes().state(QpState.ERR));
    AsyncEvent event = a.context.getAsyncEvent(Duration.ofSeconds(20));
    Check.that(event != null, "no event comes");
    Check.equal(AsyncEventType.CQ_ERR, event.type(), "the event");
    Check.equal(tiny, event.element(), "the queue of the event");
  }

  private static void resize(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    for (int i = 0; i < 6; i++) {
      b.postReceive(i, 0, 8);
      pair.a().postSend(pair.a().send(i, 0, 8));
      pair.a().done(i, WcOpcode.SEND);
      if (i == 2) {
        b.cq.resize(b.limit(DeviceLimit.MAX_CQE) / 2);
      }
    }
    b.cq.resize(16);
    for (int i = 0; i < 6; i++) {
      b.received(i, 8);
    }
    WorkCompletion[] none = WorkCompletion.batch(1);
    Check.equal(0, b.cq.poll(none), "the number of completions left");
    Check.invalid("a queue of no entries", () -> b.cq.resize(0));
    Check.invalid("a queue beyond max_cqe", () -> b.cq.resize(b.limit(DeviceLimit.MAX_CQE) + 1));
  }
}
