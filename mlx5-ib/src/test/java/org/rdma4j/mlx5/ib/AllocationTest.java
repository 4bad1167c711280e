package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/**
 * The data path allocates nothing, to the byte: not posting, polling or arming, not the engine of the card, and not the
 * host's interrupts. Before the compiler has done its work there are allocations, so it goes on until a batch of rounds
 * is without.
 */
class AllocationTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final int ROUNDS = 256;

  /** A round that arms gives the engine back to its thread, which takes its time. */
  private static final int ARM_EVERY = 16;

  private static final int BYTES = 4096;
  private static final Set<Access> RIGHTS = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final WorkCompletion[] batch = WorkCompletion.batch(4);

  @Test
  void steadyStateAllocatesNothing() {
    try (TestHost link = new TestHost();
        End a = new End(link, QpType.RC, BYTES);
        End b = new End(link, QpType.RC, BYTES)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      SendWorkRequest send =
          new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(a.region.address(), BYTES, a.region.lkey());
      ReceiveWorkRequest receive = new ReceiveWorkRequest().addSge(b.region.address(), BYTES, b.region.lkey());
      SendWorkRequest write =
          new SendWorkRequest()
              .opcode(WrOpcode.RDMA_WRITE)
              .flags(SendFlag.SIGNALED)
              .addSge(a.region.address(), BYTES, a.region.lkey())
              .remoteAddress(b.region.address())
              .rkey(b.region.rkey());
      MemoryRegion fast = a.pd.allocateMr(16);
      fast.map(List.of(a.memory, a.memory));
      MemoryWindow window = a.pd.allocateMw(MwType.TYPE_2);
      MemoryRegion allowing = a.pd.registerMemory(a.memory, Access.LOCAL_WRITE, Access.MW_BIND);
      MwBindInfo info = new MwBindInfo(allowing, allowing.address(), BYTES, Access.REMOTE_WRITE);
      SendWorkRequest request = new SendWorkRequest();
      long[] ids = threadsOfTheDataPath();
      assertTrue(ids.length >= 3, "this thread, the engine and at least one for interrupts");
      long allocated = Long.MAX_VALUE;
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (allocated > 0 && System.nanoTime() < deadline) {
        long before = allocated(ids);
        for (int i = 0; i < ROUNDS; i++) {
          exchange(a, b, send, write, receive, i % ARM_EVERY == 0);
          register(a, fast, window, info, request, i);
        }
        allocated = allocated(ids) - before;
      }
      assertEquals(0, allocated, "bytes in " + ROUNDS + " rounds, even compiled");
    }
  }

  private static long[] threadsOfTheDataPath() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            each ->
                each == Thread.currentThread()
                    || each.getName().equals("mlx5-" + TestHost.SLOT)
                    || each.getName().startsWith("pci-irq/"))
        .mapToLong(Thread::threadId)
        .toArray();
  }

  private long allocated(long[] ids) {
    long sum = 0;
    for (long id : ids) {
      sum += threads.getThreadAllocatedBytes(id);
    }
    return sum;
  }

  private void exchange(
      End a, End b, SendWorkRequest send, SendWorkRequest write, ReceiveWorkRequest receive, boolean arm) {
    b.qp.postReceive(receive);
    a.qp.postSend(send);
    await(a);
    await(b);
    a.qp.postSend(write);
    await(a);
    WorkRequestBuilder builder = a.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    builder.rdmaWrite(b.region.rkey(), b.region.address());
    builder.setSge(a.region.lkey(), a.region.address(), BYTES);
    builder.complete();
    CompletionCursor cursor = a.cq.cursor();
    while (!cursor.start()) {
      Thread.onSpinWait();
    }
    cursor.end();
    if (arm) {
      a.cq.requestNotify(CqNotify.NEXT_COMP, true);
    }
  }

  /** Registers and binds under other keys each time, and takes both back. */
  private void register(
      End a, MemoryRegion fast, MemoryWindow window, MwBindInfo info, SendWorkRequest request, int round) {
    int key = Rkeys.withTag(fast.rkey(), round);
    a.qp.postSend(request.flags(0).regMr(fast, key, RIGHTS));
    a.qp.postSend(request.opcode(WrOpcode.LOCAL_INV).invalidateRkey(key));
    int bound = Rkeys.withTag(window.rkey(), round);
    a.qp.postSend(request.bindMw(window, bound, info));
    WorkRequestBuilder builder = a.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    builder.localInv(bound);
    builder.complete();
    await(a);
  }

  private void await(End end) {
    while (end.cq.poll(batch) == 0) {
      Thread.onSpinWait();
    }
  }
}
