package org.rdma4j.provider.contract.suite;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** Reliable connections: messages, with every byte looked at, and the ways to post and poll. */
final class ReliableCases {
  private static final int[] LENGTHS = {0, 1, 7, 8, 63, 64, 65, 255, 256, 1023, 1024, 1025, 3000, 4096, 9001, 65_536};
  private static final int IMMEDIATE = 0x8badf00d;
  private static final int MANY = 300;

  private ReliableCases() {}

  static void add(CaseList list) {
    list.add(
        "rc.send.bytes", "A SEND of any length brings exactly its bytes into the receive, and says how many.",
        ReliableCases::sends);
    list.add(
        "rc.send.immediate", "A SEND with immediate brings its 32 bits beside its bytes.", ReliableCases::immediate);
    list.add(
        "rc.send.gather-scatter", "A SEND gathers from several buffers and a receive scatters into several.",
        ReliableCases::gather);
    list.add(
        "rc.send.inline", "Inline data is taken when posted: the buffer may be changed at once.", ReliableCases::inline,
        Need.INLINE);
    list.add(
        "rc.send.unsignalled", "Requests that are not signalled complete without a completion.",
        ReliableCases::unsignalled);
    list.add("rc.send.signal-all", "A queue pair that signals all completes every request.", ReliableCases::signalAll);
    list.add("rc.send.order", "Messages arrive in the order in which they were posted.", ReliableCases::order);
    list.add(
        "rc.send.chain", "A chain of requests is posted as a whole, and done in its order.", ReliableCases::chain);
    list.add(
        "rc.send.chain-stops", "A chain stops at its first bad request, which is named; those before it are done.",
        ReliableCases::chainStops);
    list.add("rc.send.waits", "A SEND waits for its receive where receiver-not-ready is retried for ever.",
        ReliableCases::waits);
    list.add("rc.ring-wrap", "Queues go round: many more messages than they have slots arrive right.",
        ReliableCases::wrap);
    list.add("rc.mtu", "Every path MTU up to the active one carries messages of one packet more and less.",
        ReliableCases::mtus);
    list.add("rc.both-ways", "Both sides send at the same time.", ReliableCases::bothWays);
    list.add("rc.many-pairs", "Many connections at once keep their bytes apart.", ReliableCases::manyPairs);
    list.add("rc.builder", "A batch built in place is posted as one.", ReliableCases::builder);
    list.add("rc.builder.abort", "A batch that is dropped leaves nothing behind.", ReliableCases::builderAbort);
    list.add("rc.builder.all-or-nothing", "A batch with a request that breaks a rule is refused as a whole: EINVAL.",
        ReliableCases::builderRefused);
    list.add("rc.cursor", "Completions are read where they lie as they are read by copy.", ReliableCases::cursor);
  }

  private static void sends(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    Side b = pair.b();
    long id = 0;
    for (int length : LENGTHS) {
      id++;
      int seed = bench.random().nextInt();
      a.fill(0, length, seed);
      b.memory.asSlice(0, length + 64).fill((byte) 0);
      b.postReceive(id, 0, length + 64);
      a.postSend(a.send(100 + id, 0, length));
      WorkCompletion received = b.received(id, length);
      Check.equal(b.qp().number(), received.qpNumber(), "the QP number of " + received);
      Check.equal(0, received.flags() & WcFlag.WITH_IMM, "the flag WITH_IMM of " + received);
      Check.equal(a.qp().number(), a.done(100 + id, WcOpcode.SEND).qpNumber(), "the QP number of the send");
      b.verify(0, length, seed);
      b.untouched(length, 64);
    }
    a.nothing();
    b.nothing();
  }

  private static void immediate(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().fill(0, 100, 1);
    pair.b().postReceive(1, 0, 200);
    pair.a().postSend(pair.a().send(2, 0, 100).opcode(WrOpcode.SEND_WITH_IMM).immediate(IMMEDIATE));
    WorkCompletion received = pair.b().received(1, 100);
    Check.equal(WcFlag.WITH_IMM, received.flags() & WcFlag.WITH_IMM, "the flag WITH_IMM of " + received);
    Check.equal(IMMEDIATE, received.immediate(), "the immediate data");
    pair.a().done(2, WcOpcode.SEND);
    pair.b().verify(0, 100, 1);
  }

  private static void gather(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    Side b = pair.b();
    int sends = Math.min(3, a.qp().capabilities().maxSendSge());
    int receives = Math.min(3, b.qp().capabilities().maxRecvSge());
    SendWorkRequest send = new SendWorkRequest().wrId(1).flags(SendFlag.SIGNALED);
    int length = 0;
    for (int i = 0; i < sends; i++) {
      int part = 700 + i * 333;
      Bytes.fill(a.memory, i * 8192L, part, 5 + i);
      send.addSge(a.region.address() + i * 8192L, part, a.region.lkey());
      length += part;
    }
    ReceiveWorkRequest receive = new ReceiveWorkRequest().wrId(2);
    for (int i = 0; i < receives; i++) {
      int room = i == receives - 1 ? length : 901;
      receive.addSge(b.region.address() + i * 16_384L, room, b.region.lkey());
    }
    b.qp().postReceive(receive);
    a.postSend(send);
    b.received(2, length);
    a.done(1, WcOpcode.SEND);
    MemorySegment sent = a.arena.allocate(length);
    long at = 0;
    for (int i = 0; i < sends; i++) {
      int part = 700 + i * 333;
      MemorySegment.copy(a.memory, i * 8192L, sent, at, part);
      at += part;
    }
    at = 0;
    for (int i = 0; i < receives; i++) {
      long part = i == receives - 1 ? length - at : Math.min(901, length - at);
      long wrong = sent.asSlice(at, part).mismatch(b.memory.asSlice(i * 16_384L, part));
      Check.that(wrong < 0, "byte " + wrong + " of buffer " + i + " is wrong");
      b.untouched(i * 16_384L + part, 64);
      at += part;
    }
  }

  private static void inline(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    int length = a.qp().capabilities().maxInlineData();
    for (int i = 0; i < 4; i++) {
      pair.b().postReceive(i, i * 1024L, 1024);
      a.fill(0, length, 40 + i);
      SendWorkRequest send =
          i % 2 == 0
              ? a.send(i, 0, length).flags(SendFlag.SIGNALED | SendFlag.INLINE)
              : new SendWorkRequest().wrId(i).flags(SendFlag.SIGNALED).inlineData(a.memory.asSlice(0, length));
      a.postSend(send);
      a.fill(0, length, 99);
      a.done(i, WcOpcode.SEND);
      pair.b().received(i, length);
      pair.b().verify(i * 1024L, length, 40 + i);
    }
  }

  private static void unsignalled(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 10; i++) {
      pair.b().postReceive(i, 0, 100);
      pair.a().postSend(pair.a().send(100 + i, 0, 10).flags(i == 9 ? SendFlag.SIGNALED : 0));
    }
    pair.a().done(109, WcOpcode.SEND);
    for (int i = 0; i < 10; i++) {
      pair.b().received(i, 10);
    }
    pair.a().nothing();
  }

  private static void signalAll(Bench bench) {
    Side a = bench.a();
    a.with(a.init(QpType.RC).signalAll(true));
    Pair pair = new Pair(a, bench.b().with(QpType.RC), Way.USUAL);
    pair.connect();
    for (int i = 0; i < 5; i++) {
      pair.b().postReceive(i, 0, 100);
      a.postSend(a.send(100 + i, 0, 10).flags(0));
    }
    for (int i = 0; i < 5; i++) {
      a.done(100 + i, WcOpcode.SEND);
    }
  }

  private static void order(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    int count = Math.min(50, pair.b().qp().capabilities().maxRecvWr());
    for (int i = 0; i < count; i++) {
      pair.b().postReceive(i, i * 2048L, 2048);
      pair.a().fill(i * 2048L, 1 + i * 40, i);
    }
    int sends = Math.min(count, pair.a().qp().capabilities().maxSendWr());
    for (int i = 0; i < sends; i++) {
      pair.a().postSend(pair.a().send(500 + i, i * 2048L, 1 + i * 40));
    }
    for (int i = 0; i < sends; i++) {
      pair.b().received(i, 1 + i * 40);
      pair.a().done(500 + i, WcOpcode.SEND);
      pair.b().verify(i * 2048L, 1 + i * 40, i);
    }
  }

  private static void chain(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    ReceiveWorkRequest second = pair.b().receive(2, 1024, 100);
    pair.b().qp().postReceive(pair.b().receive(1, 0, 100).next(second));
    pair.a().fill(0, 100, 3);
    SendWorkRequest last = pair.a().send(12, 0, 20);
    SendWorkRequest middle =
        pair.a().remote(WrOpcode.RDMA_WRITE, 11, 0, 30, pair.b(), 4096).next(last);
    pair.a().postSend(pair.a().send(10, 0, 10).next(middle));
    pair.a().done(10, WcOpcode.SEND);
    pair.a().done(11, WcOpcode.RDMA_WRITE);
    pair.a().done(12, WcOpcode.SEND);
    pair.b().received(1, 10);
    pair.b().received(2, 20);
    pair.b().verify(4096, 30, 3);
  }

  private static void chainStops(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    SendWorkRequest bad = new SendWorkRequest().wrId(11).flags(SendFlag.SIGNALED);
    for (int i = 0; i <= a.qp().capabilities().maxSendSge(); i++) {
      bad.addSge(a.region.address(), 1, a.region.lkey());
    }
    SendWorkRequest first = a.send(10, 0, 10).next(bad.next(a.send(12, 0, 10)));
    PostException refused =
        (PostException) Check.invalid("a request with one buffer more than max_send_sge", () -> a.postSend(first));
    Check.equal(bad, refused.badWorkRequest(), "the bad request");
    a.done(10, WcOpcode.SEND);
    pair.b().received(1, 10);
    a.nothing();
  }

  private static void waits(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().fill(0, 500, 8);
    pair.a().postSend(pair.a().send(1, 0, 500));
    pair.a().nothing();
    pair.b().postReceive(2, 0, 500);
    pair.b().received(2, 500);
    pair.a().done(1, WcOpcode.SEND);
    pair.b().verify(0, 500, 8);
  }

  private static void wrap(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    int ahead = Math.min(16, pair.b().qp().capabilities().maxRecvWr());
    for (int i = 0; i < ahead; i++) {
      pair.b().postReceive(i, i % ahead * 1024L, 1024);
    }
    for (int i = 0; i < MANY; i++) {
      int length = i % 97;
      pair.a().fill(0, length, i);
      pair.a().postSend(pair.a().send(1000 + i, 0, length));
      pair.b().received(i, length);
      pair.b().verify(i % ahead * 1024L, length, i);
      pair.b().postReceive(i + ahead, i % ahead * 1024L, 1024);
      pair.a().done(1000 + i, WcOpcode.SEND);
    }
  }

  private static void mtus(Bench bench) {
    Side a = bench.a();
    Side b = bench.b();
    PathMtu active = Side.common(a.device.port(a.port).activeMtu(), b.device.port(b.port).activeMtu());
    a.with(QpType.RC);
    b.with(QpType.RC);
    for (PathMtu mtu : PathMtu.values()) {
      if (mtu.compareTo(active) <= 0) {
        Pair pair = new Pair(a, b, Way.usual().mtu(mtu));
        pair.connect();
        for (int length : new int[] {mtu.bytes() - 1, mtu.bytes(), mtu.bytes() + 1, 3 * mtu.bytes() + 5}) {
          a.fill(0, length, length);
          b.postReceive(1, 0, length);
          a.postSend(a.send(2, 0, length));
          b.received(1, length);
          a.done(2, WcOpcode.SEND);
          b.verify(0, length, length);
        }
        a.reset(a.qp());
        b.reset(b.qp());
      }
    }
  }

  private static void bothWays(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Pair turned = pair.turned();
    for (int round = 0; round < 10; round++) {
      for (Pair each : new Pair[] {pair, turned}) {
        each.a().fill(0, 5000, round);
        each.a().postReceive(1, 8192, 5000);
      }
      pair.a().postSend(pair.a().send(2, 0, 5000));
      pair.b().postSend(pair.b().send(2, 0, 5000));
      for (Pair each : new Pair[] {pair, turned}) {
        Set<Long> left = new HashSet<>(Set.of(1L, 2L));
        for (int i = 0; i < 2; i++) {
          WorkCompletion next = each.a().next();
          Check.equal(WcStatus.SUCCESS, next.status(), "the status of " + next);
          Check.that(left.remove(next.wrId()), "twice: " + next);
        }
        each.a().verify(8192, 5000, round);
      }
    }
  }

  private static void manyPairs(Bench bench) {
    Side a = bench.a();
    Side b = bench.b();
    List<QueuePair> from = new ArrayList<>();
    List<QueuePair> to = new ArrayList<>();
    int count = Math.min(16, Math.min(a.limit(DeviceLimit.MAX_QP), b.limit(DeviceLimit.MAX_QP)) / 4);
    for (int i = 0; i < count; i++) {
      from.add(a.pd.createQp(a.init(QpType.RC)));
      to.add(b.pd.createQp(b.init(QpType.RC)));
      a.connect(from.get(i), b, to.get(i).number(), Way.USUAL);
      b.connect(to.get(i), a, from.get(i).number(), Way.USUAL);
      to.get(i).postReceive(b.receive(i, i * 4096L, 4096));
      a.fill(i * 4096L, 2000, i);
    }
    for (int i = 0; i < count; i++) {
      from.get(i).postSend(a.send(i, i * 4096L, 2000));
    }
    for (int i = 0; i < count; i++) {
      WorkCompletion received = b.next();
      Side.done(received, received.wrId(), WcOpcode.RECV);
      Check.equal(to.get((int) received.wrId()).number(), received.qpNumber(), "the QP number of " + received);
      Check.equal(WcStatus.SUCCESS, a.next().status(), "the status of a send");
    }
    for (int i = 0; i < count; i++) {
      b.verify(i * 4096L, 2000, i);
    }
  }

  private static void builder(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    a.fill(0, 64, 5);
    WorkRequestBuilder batch = a.qp().workRequests();
    batch.start();
    batch.wrId(10);
    batch.flags(0);
    batch.rdmaWrite(pair.b().region.rkey(), pair.b().region.address() + 4096);
    batch.setSge(a.region.lkey(), a.region.address(), 64);
    batch.wrId(11);
    batch.flags(SendFlag.SIGNALED);
    batch.sendImm(77);
    batch.setSgeList(1, new int[] {a.region.lkey()}, new long[] {a.region.address()}, new int[] {50});
    batch.complete();
    a.done(11, WcOpcode.SEND);
    Check.equal(77, pair.b().received(1, 50).immediate(), "the immediate data");
    pair.b().verify(0, 50, 5);
    pair.b().verify(4096, 64, 5);
  }

  private static void builderAbort(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    WorkRequestBuilder batch = pair.a().qp().workRequests();
    batch.start();
    batch.wrId(10);
    batch.flags(SendFlag.SIGNALED);
    batch.send();
    batch.setSge(pair.a().region.lkey(), pair.a().region.address(), 64);
    batch.abort();
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(pair.a().send(11, 0, 8));
    pair.a().done(11, WcOpcode.SEND);
    pair.b().received(1, 8);
    pair.a().nothing();
  }

  private static void builderRefused(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    int buffers = a.qp().capabilities().maxSendSge() + 1;
    WorkRequestBuilder batch = a.qp().workRequests();
    batch.start();
    batch.wrId(10);
    batch.flags(SendFlag.SIGNALED);
    batch.send();
    batch.setSge(a.region.lkey(), a.region.address(), 64);
    Check.invalid(
        "a batch with too many buffers",
        () -> {
          batch.send();
          batch.setSgeList(buffers, new int[buffers], new long[buffers], new int[buffers]);
          batch.complete();
        });
    a.postSend(a.send(11, 0, 8));
    a.done(11, WcOpcode.SEND);
    pair.b().received(1, 8);
    a.nothing();
  }

  private static void cursor(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().memory.set(ValueLayout.JAVA_INT, 0, 1);
    for (int i = 0; i < 3; i++) {
      pair.b().postReceive(i, 0, 100);
      pair.a().postSend(pair.a().send(10 + i, 0, 5 + i).opcode(WrOpcode.SEND_WITH_IMM).immediate(i));
      pair.a().done(10 + i, WcOpcode.SEND);
    }
    CompletionCursor cursor = pair.b().cq.cursor();
    int seen = 0;
    Patience patience = new Patience();
    while (seen < 3) {
      if (!cursor.start()) {
        Check.that(patience.waits(), "a completion does not come");
        continue;
      }
      do {
        Check.equal(WcStatus.SUCCESS, cursor.status(), "the status");
        Check.equal((long) seen, cursor.wrId(), "wr_id");
        Check.equal(WcOpcode.RECV, cursor.opcode(), "the opcode");
        Check.equal(5 + seen, cursor.byteLength(), "byte_len");
        Check.equal(seen, cursor.immediate(), "the immediate data");
        Check.equal(pair.b().qp().number(), cursor.qpNumber(), "the QP number");
        seen++;
      } while (cursor.next());
      cursor.end();
    }
    pair.b().nothing();
  }
}
