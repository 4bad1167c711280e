package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Every completion status that a consumer can provoke, on both sides, and what follows it. */
final class StatusCases {
  private static final Map<WcStatus, String> NOT_PROVOKED = new EnumMap<>(WcStatus.class);

  static {
    String datagrams = "it is of reliable datagrams, which no verb here makes";
    NOT_PROVOKED.put(WcStatus.LOC_EEC_OP_ERR, datagrams);
    NOT_PROVOKED.put(WcStatus.LOC_RDD_VIOL_ERR, datagrams);
    NOT_PROVOKED.put(WcStatus.REM_INV_RD_REQ_ERR, datagrams);
    NOT_PROVOKED.put(WcStatus.INV_EECN_ERR, datagrams);
    NOT_PROVOKED.put(WcStatus.INV_EEC_STATE_ERR, datagrams);
    NOT_PROVOKED.put(WcStatus.BAD_RESP_ERR, "it takes a peer that answers wrongly; through verbs none does");
    NOT_PROVOKED.put(WcStatus.LOC_ACCESS_ERR, "devices tell REM_ACCESS_ERR or WR_FLUSH_ERR in its place");
    NOT_PROVOKED.put(WcStatus.REM_ABORT_ERR, "no verb makes a peer abort a request");
    NOT_PROVOKED.put(WcStatus.FATAL_ERR, "it takes a device that breaks");
    NOT_PROVOKED.put(WcStatus.RESP_TIMEOUT_ERR, "it is of management datagrams");
    NOT_PROVOKED.put(WcStatus.GENERAL_ERR, "it stands for everything that has no status");
  }

  private StatusCases() {}

  static void add(CaseList list) {
    list.add("status.loc-len-err", "A receive too small is LOC_LEN_ERR, and the sender has REM_INV_REQ_ERR.",
        StatusCases::length);
    list.add("status.loc-qp-op-err", "A request the queue pair cannot execute is LOC_QP_OP_ERR.",
        StatusCases::operation, Need.FAST_REGISTRATION);
    list.add("status.loc-prot-err", "A wrong local key is LOC_PROT_ERR; what is behind it is flushed.",
        StatusCases::protection);
    list.add("status.wr-flush-err", "After an error everything posted is flushed, once and in order.",
        StatusCases::flush);
    list.add("status.mw-bind-err", "A bind beyond its region is MW_BIND_ERR.", StatusCases::bind, Need.WINDOWS_2);
    list.add("status.rem-inv-req-err", "A request that the peer does not allow is REM_INV_REQ_ERR.",
        StatusCases::invalidRequest);
    list.add("status.rem-access-err", "A wrong remote key is REM_ACCESS_ERR, and both sides go into ERR.",
        StatusCases::access);
    list.add("status.rem-access-err.write-imm", "A WRITE with immediate that is refused completes no receive well.",
        StatusCases::accessImmediate);
    list.add("status.rem-op-err", "A receive whose buffer cannot be written is REM_OP_ERR for the sender.",
        StatusCases::remoteOperation);
    list.add("status.retry-exc-err", "A peer that is not there is RETRY_EXC_ERR after the retries.",
        StatusCases::retry);
    list.add("status.rnr-retry-exc-err", "A peer without a receive is RNR_RETRY_EXC_ERR after the retries.",
        StatusCases::receiverNotReady, Need.RNR_NAK);
    list.add("status.rnr-recovers", "A receive that comes in time ends receiver-not-ready.", StatusCases::recovers,
        Need.RNR_NAK);
    list.add("status.explain", "A failure is explained in a sentence that names its status.", StatusCases::explain);
    list.add("status.again", "After RESET a failed connection works again.", StatusCases::again);
    list.add("status.late-poll", "A failure that is polled after RESET says nothing about what came after.",
        StatusCases::latePoll);
    list.add("status.sqe.ud", "A failed datagram leads to SQE; from there RTS goes on.",
        bench -> sqe(bench, QpType.UD), Need.UD);
    list.add("status.sqe.uc", "A failed send of UC leads to SQE or ERR; the queue pair can be used again.",
        bench -> sqe(bench, QpType.UC), Need.UC);
    list.add("event.qp-access-err", "Who is accessed wrongly hears of it by an event.", StatusCases::accessEvent);
    NOT_PROVOKED.forEach((status, why) -> notProvoked(list, status, why));
  }

  private static void notProvoked(CaseList list, WcStatus status, String why) {
    String name = "status." + status.name().toLowerCase(Locale.ROOT).replace('_', '-');
    list.add(
        name,
        status + " is told where its reason occurs.",
        bench -> {
          throw new Skipped("not tested: " + why);
        });
  }

  private static void length(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int room : new int[] {0, 99, 1500}) {
      pair.b().postReceive(1, 0, room);
      pair.a().postSend(pair.a().send(2, 0, room + 1));
      pair.b().failed(1, WcStatus.LOC_LEN_ERR);
      pair.a().failed(2, WcStatus.REM_INV_REQ_ERR);
      pair.b().untouched(room, 100);
      pair.reconnect();
    }
  }

  private static void operation(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    MemoryRegion region = pair.a().region;
    pair.a()
        .postSend(
            new SendWorkRequest()
                .wrId(1)
                .opcode(WrOpcode.LOCAL_INV)
                .flags(SendFlag.SIGNALED)
                .invalidateRkey(region.rkey() ^ 0x100));
    pair.a().failed(1, WcStatus.LOC_QP_OP_ERR, WcStatus.MW_BIND_ERR);
    pair.a().await(QpState.ERR);
  }

  private static SendWorkRequest badKey(Side a, long id) {
    return new SendWorkRequest()
        .wrId(id)
        .flags(SendFlag.SIGNALED)
        .addSge(a.region.address(), 8, a.region.lkey() ^ 0x100);
  }

  private static void protection(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    a.postSend(badKey(a, 1).next(a.send(2, 0, 8)));
    a.failed(1, WcStatus.LOC_PROT_ERR);
    a.failed(2, WcStatus.WR_FLUSH_ERR);
    a.await(QpState.ERR);
  }

  private static void flush(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    for (int i = 0; i < 5; i++) {
      a.postReceive(100 + i, 0, 8);
    }
    SendWorkRequest bad = badKey(a, 0);
    SendWorkRequest last = bad;
    for (int i = 1; i < 5; i++) {
      SendWorkRequest next = a.send(i, 0, 8).flags(0);
      last.next(next);
      last = next;
    }
    a.postSend(bad);
    int sends = 0;
    int receives = 0;
    while (sends + receives < 10) {
      WorkCompletion next = a.next();
      boolean first = next.wrId() == 0;
      Check.equal(first ? WcStatus.LOC_PROT_ERR : WcStatus.WR_FLUSH_ERR, next.status(), "the status of " + next);
      long expected = next.wrId() < 100 ? sends++ : 100 + receives++;
      Check.equal(expected, next.wrId(), "wr_id, in the order of posting,");
    }
    a.nothing();
  }

  private static void bind(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    MemoryRegion region = a.pd.registerMemory(a.memory, Access.LOCAL_WRITE, Access.MW_BIND);
    MemoryWindow window = a.pd.allocateMw(MwType.TYPE_2);
    MwBindInfo beyond = new MwBindInfo(region, region.address(), region.length() + 1, Access.REMOTE_READ);
    a.postSend(
        new SendWorkRequest().wrId(1).flags(SendFlag.SIGNALED).bindMw(window, Rkeys.increment(window.rkey()), beyond));
    a.failed(1, WcStatus.MW_BIND_ERR);
    a.await(QpState.ERR);
  }

  private static void invalidRequest(Bench bench) {
    Pair pair = bench.pair(QpType.RC, Way.usual().rights(Set.of()));
    pair.a().fill(0, 8, 1);
    pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, 8, pair.b(), 0));
    pair.a().failed(1, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_ACCESS_ERR);
    pair.b().untouched(0, 100);
    pair.a().await(QpState.ERR);
  }

  private static SendWorkRequest badWrite(Pair pair, WrOpcode opcode, long id) {
    return pair.a().remote(opcode, id, 0, 8, pair.b(), 0).rkey(pair.b().region.rkey() ^ 0x100);
  }

  private static void access(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().postReceive(7, 0, 8);
    pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE, 1).next(pair.a().send(2, 0, 8)));
    pair.a().failed(1, WcStatus.REM_ACCESS_ERR);
    pair.a().failed(2, WcStatus.WR_FLUSH_ERR);
    pair.b().failed(7, WcStatus.WR_FLUSH_ERR);
    pair.a().await(QpState.ERR);
    pair.b().await(QpState.ERR);
  }

  private static void accessImmediate(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().postReceive(7, 0, 8);
    pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE_WITH_IMM, 1));
    pair.a().failed(1, WcStatus.REM_ACCESS_ERR);
    pair.b().failed(7, WcStatus.WR_FLUSH_ERR, WcStatus.REM_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR);
    pair.b().untouched(0, 100);
  }

  private static void remoteOperation(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    b.qp().postReceive(
        new ReceiveWorkRequest().wrId(1).addSge(b.region.address(), 100, b.region.lkey() ^ 0x100));
    pair.a().postSend(pair.a().send(2, 0, 8));
    b.failed(1, WcStatus.LOC_PROT_ERR);
    pair.a().failed(2, WcStatus.REM_OP_ERR);
    pair.a().await(QpState.ERR);
  }

  private static void retry(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    Side b = bench.b().with(QpType.RC);
    int nobody = b.qp().number();
    b.qp().destroy();
    a.connect(a.qp(), b, nobody, Way.usual().timeout(8, 2));
    a.postSend(a.send(1, 0, 8).next(a.send(2, 0, 8)));
    a.failed(1, WcStatus.RETRY_EXC_ERR);
    a.failed(2, WcStatus.WR_FLUSH_ERR);
    a.await(QpState.ERR);
  }

  private static void receiverNotReady(Bench bench) {
    Pair pair = bench.pair(QpType.RC, Way.usual().rnrRetries(2));
    pair.a().postSend(pair.a().send(1, 0, 8));
    pair.a().failed(1, WcStatus.RNR_RETRY_EXC_ERR);
    pair.a().await(QpState.ERR);
    pair.b().nothing();
  }

  private static void recovers(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 5; i++) {
      pair.a().fill(0, 3000, i);
      pair.a().postSend(pair.a().send(1, 0, 3000));
      pair.a().nothing();
      pair.b().postReceive(2, 0, 3000);
      pair.b().received(2, 3000);
      pair.a().done(1, WcOpcode.SEND);
      pair.b().verify(0, 3000, i);
    }
  }

  private static void explain(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE, 1));
    WorkCompletion failed = pair.a().failed(1, WcStatus.REM_ACCESS_ERR);
    String text = pair.a().qp().explain(failed);
    Check.that(text.contains("REM_ACCESS_ERR"), "the explanation is: " + text);
  }

  private static void again(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 5; i++) {
      pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE, 1));
      pair.a().failed(1, WcStatus.REM_ACCESS_ERR);
      pair.reconnect();
      pair.a().fill(0, 2000, i);
      pair.b().postReceive(2, 0, 2000);
      pair.a().postSend(pair.a().send(3, 0, 2000));
      pair.b().received(2, 2000);
      pair.a().done(3, WcOpcode.SEND);
      pair.b().verify(0, 2000, i);
    }
  }

  private static void latePoll(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE, 1));
    pair.a().await(QpState.ERR);
    pair.b().await(QpState.ERR);
    pair.reconnect();
    WorkCompletion[] old = WorkCompletion.batch(1);
    if (pair.a().cq.poll(old) == 1) {
      Check.equal(WcStatus.REM_ACCESS_ERR, old[0].status(), "the status of " + old[0]);
    }
    Check.equal(QpState.RTS, pair.a().qp().state(), "the state after the failure of before was polled");
    pair.b().postReceive(2, 0, 100);
    pair.a().postSend(pair.a().send(3, 0, 50));
    pair.b().received(2, 50);
    pair.a().done(3, WcOpcode.SEND);
  }

  private static void sqe(Bench bench, QpType type) {
    Pair pair = bench.pair(type);
    Side a = pair.a();
    SendWorkRequest bad = badKey(a, 1);
    SendWorkRequest good = a.send(2, 0, 8);
    if (type == QpType.UD) {
      Datagrams.to(pair, bad);
      Datagrams.to(pair, good);
    }
    a.postSend(bad);
    a.failed(1, WcStatus.LOC_PROT_ERR);
    QpState failed = a.qp().query().state();
    Check.that(failed == QpState.SQE || (type == QpType.UC && failed == QpState.ERR), "the state is " + failed);
    a.postSend(good);
    a.failed(2, WcStatus.WR_FLUSH_ERR);
    if (failed == QpState.SQE) {
      a.qp().modify(new QpAttributes().state(QpState.RTS));
    } else {
      pair.reconnect();
    }
    pair.b().postReceive(3, 0, 100);
    a.postSend(good);
    a.done(2, WcOpcode.SEND);
    Side.done(pair.b().next(), 3, WcOpcode.RECV);
  }

  private static void accessEvent(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().postSend(badWrite(pair, WrOpcode.RDMA_WRITE, 1));
    pair.a().failed(1, WcStatus.REM_ACCESS_ERR);
    Patience patience = new Patience();
    while (patience.waits()) {
      AsyncEvent event = pair.b().context.getAsyncEvent(Duration.ofMillis(100));
      if (event != null && event.type() != AsyncEventType.COMM_EST) {
        Check.equal(AsyncEventType.QP_ACCESS_ERR, event.type(), "the event");
        Check.equal(pair.b().qp(), event.element(), "the queue pair of the event");
        return;
      }
    }
    throw new Broken("no event comes");
  }
}
