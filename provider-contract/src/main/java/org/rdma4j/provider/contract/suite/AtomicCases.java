package org.rdma4j.provider.contract.suite;

import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Operations on 8 bytes that nobody sees in between, and flushes. */
final class AtomicCases {
  private static final int ROUNDS = 40;

  private AtomicCases() {}

  static void add(CaseList list) {
    list.add("atomic.fetch-add", "Fetch and add brings the old value and leaves the sum.", AtomicCases::fetchAdd,
        Need.ATOMICS);
    list.add("atomic.cmp-swap", "Compare and swap swaps where the value is as expected, and brings the old one.",
        AtomicCases::compareSwap, Need.ATOMICS);
    list.add("atomic.misaligned", "An atomic at an address that is no multiple of 8 is refused with EINVAL.",
        AtomicCases::misaligned, Need.ATOMICS);
    list.add("atomic.together", "Two connections adding to one place lose nothing.", AtomicCases::together,
        Need.ATOMICS);
    list.add("atomic.neighbours", "An atomic touches 8 bytes and none beside them.", AtomicCases::neighbours,
        Need.ATOMICS);
    list.add("atomic-write.bytes", "An atomic write writes its 8 bytes and none beside them.", AtomicCases::write,
        Need.ATOMIC_WRITE);
    list.add("flush.global", "A flush completes after the writes before it.", AtomicCases::flush, Need.FLUSH);
  }

  private static SendWorkRequest atomic(Pair pair, WrOpcode opcode, long there) {
    return pair.a().remote(opcode, 1, 4096, Long.BYTES, pair.b(), there);
  }

  private static long old(Pair pair) {
    return pair.a().memory.get(ValueLayout.JAVA_LONG, 4096);
  }

  private static void fetchAdd(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    long value = bench.random().nextLong();
    pair.b().memory.set(ValueLayout.JAVA_LONG, 16, value);
    for (long add : new long[] {1, 0, -5, Long.MAX_VALUE}) {
      pair.a().postSend(atomic(pair, WrOpcode.ATOMIC_FETCH_AND_ADD, 16).compareAdd(add));
      pair.a().done(1, WcOpcode.FETCH_ADD);
      Check.equal(value, old(pair), "the old value");
      value += add;
      Check.equal(value, pair.b().memory.get(ValueLayout.JAVA_LONG, 16), "the sum");
    }
  }

  private static void compareSwap(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().memory.set(ValueLayout.JAVA_LONG, 8, 42);
    pair.a().postSend(atomic(pair, WrOpcode.ATOMIC_CMP_AND_SWP, 8).compareAdd(41).swap(7));
    pair.a().done(1, WcOpcode.COMP_SWAP);
    Check.equal(42L, old(pair), "the old value");
    Check.equal(42L, pair.b().memory.get(ValueLayout.JAVA_LONG, 8), "the value that was not expected");
    pair.a().postSend(atomic(pair, WrOpcode.ATOMIC_CMP_AND_SWP, 8).compareAdd(42).swap(7));
    pair.a().done(1, WcOpcode.COMP_SWAP);
    Check.equal(42L, old(pair), "the old value");
    Check.equal(7L, pair.b().memory.get(ValueLayout.JAVA_LONG, 8), "the new value");
  }

  private static void misaligned(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Check.invalid(
        "an atomic at an odd address",
        () -> pair.a().postSend(atomic(pair, WrOpcode.ATOMIC_FETCH_AND_ADD, 4).compareAdd(1)));
  }

  private static void together(Bench bench) {
    Side b = bench.b().with(QpType.RC);
    Side b2 = bench.b();
    Pair one = new Pair(bench.a().with(QpType.RC), b, Way.USUAL);
    one.connect();
    Side a2 = bench.a().with(QpType.RC);
    b2.with(QpType.RC);
    Pair two = new Pair(a2, b2, Way.USUAL);
    two.connect();
    MemoryRegion shared = b2.pd.registerMemory(b.memory, b2.rights());
    for (int i = 0; i < ROUNDS; i++) {
      one.a().postSend(atomic(one, WrOpcode.ATOMIC_FETCH_AND_ADD, 0).compareAdd(1));
      a2.postSend(
          a2.request(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 4096, Long.BYTES)
              .remoteAddress(shared.address())
              .rkey(shared.rkey())
              .compareAdd(1));
      one.a().done(1, WcOpcode.FETCH_ADD);
      a2.done(1, WcOpcode.FETCH_ADD);
    }
    Check.equal(2L * ROUNDS, b.memory.get(ValueLayout.JAVA_LONG, 0), "the sum");
  }

  private static void neighbours(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().postSend(atomic(pair, WrOpcode.ATOMIC_FETCH_AND_ADD, 8).compareAdd(-1));
    pair.a().done(1, WcOpcode.FETCH_ADD);
    pair.b().untouched(0, 8);
    pair.b().untouched(16, 8);
    Check.equal(-1L, pair.b().memory.get(ValueLayout.JAVA_LONG, 8), "the sum");
    pair.a().untouched(4096 - 8, 16);
    pair.a().untouched(4096 + 8, 8);
  }

  private static void write(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    long value = bench.random().nextLong();
    pair.a()
        .postSend(
            new SendWorkRequest()
                .wrId(1)
                .flags(SendFlag.SIGNALED)
                .atomicWrite(pair.b().region.rkey(), pair.b().region.address() + 8, value));
    pair.a().done(1, WcOpcode.ATOMIC_WRITE);
    Check.equal(value, pair.b().memory.get(ValueLayout.JAVA_LONG, 8), "the value");
    pair.b().untouched(0, 8);
    pair.b().untouched(16, 8);
  }

  private static void flush(Bench bench) {
    Side b = bench.b().with(QpType.RC);
    Side a = bench.a().with(QpType.RC);
    Pair pair =
        new Pair(
            a, b, Way.usual().rights(Set.of(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.FLUSH_GLOBAL)));
    pair.connect();
    MemoryRegion region = b.pd.registerMemory(b.memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL);
    a.fill(0, 5000, 3);
    SendWorkRequest flush =
        new SendWorkRequest()
            .wrId(2)
            .flags(SendFlag.SIGNALED)
            .flush(
                region.rkey(), region.address(), 5000, Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
    a.postSend(
        a.request(WrOpcode.RDMA_WRITE, 1, 0, 5000)
            .remoteAddress(region.address())
            .rkey(region.rkey())
            .next(flush));
    a.done(1, WcOpcode.RDMA_WRITE);
    WorkCompletion done = a.done(2, WcOpcode.FLUSH);
    Check.equal(a.qp().number(), done.qpNumber(), "the QP number");
    b.verify(0, 5000, 3);
  }
}
