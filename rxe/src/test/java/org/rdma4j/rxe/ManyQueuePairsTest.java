package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

/** Thousands of queue pairs on one port, all in use at once, and gone again. */
class ManyQueuePairsTest {
  private static final int COUNT = 4_000;
  private static final int MESSAGES = 4;
  private static final int BYTES = 32;
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);

  /** All of one device: queue pairs that share a completion queue and a region. */
  private static final class Side implements AutoCloseable {
    private final TestLink link;
    private final Context context;
    private final CompletionQueue cq;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final List<QueuePair> pairs = new ArrayList<>();

    Side(String name) {
      link = TestLink.open(name);
      context = link.open();
      ProtectionDomain pd = context.allocatePd();
      cq = context.createCq(COUNT * MESSAGES, null, 0);
      memory = arena.allocate((long) COUNT * MESSAGES * BYTES, 4096);
      region = pd.registerMemory(memory, Access.LOCAL_WRITE);
      for (int i = 0; i < COUNT; i++) {
        pairs.add(
            pd.createQp(
                new QpInitAttributes(QpType.RC)
                    .sendCq(cq)
                    .recvCq(cq)
                    .capabilities(new QpCapabilities(MESSAGES, MESSAGES, 1, 1, 0))));
      }
    }

    void connect(Side peer) {
      int sgid = context.device().gidTable(1).find(link.gid).index();
      for (int i = 0; i < COUNT; i++) {
        End.connect(pairs.get(i), peer.link.gid, sgid, peer.pairs.get(i).number(), PathMtu.MTU_1024);
      }
    }

    long slot(int pair, int message) {
      return ((long) pair * MESSAGES + message) * BYTES;
    }

    /** Polls until every work request has completed, each once and well. */
    void awaitAll() {
      BitSet seen = new BitSet();
      WorkCompletion[] batch = WorkCompletion.batch(64);
      long deadline = System.nanoTime() + WAIT_NANOS;
      while (seen.cardinality() < COUNT * MESSAGES) {
        int count = cq.poll(batch);
        if (count == 0) {
          assertTrue(System.nanoTime() < deadline, () -> seen.cardinality() + " completed of " + COUNT * MESSAGES);
          LockSupport.parkNanos(1_000);
        }
        for (int i = 0; i < count; i++) {
          assertEquals(WcStatus.SUCCESS, batch[i].status(), batch[i].toString());
          int id = (int) batch[i].wrId();
          assertEquals(pairs.get(id / MESSAGES).number(), batch[i].qpNumber());
          assertTrue(!seen.get(id), "completed twice: " + batch[i]);
          seen.set(id);
        }
      }
    }

    @Override
    public void close() {
      context.close();
      arena.close();
      link.close();
    }
  }

  @Test
  void allTransferAtOnce() {
    Footprint before = Footprint.now();
    try (Side a = new Side("rxe0");
        Side b = new Side("rxe1")) {
      a.connect(b);
      b.connect(a);
      for (int i = 0; i < COUNT; i++) {
        for (int m = 0; m < MESSAGES; m++) {
          b.pairs.get(i).postReceive(
              new ReceiveWorkRequest()
                  .wrId(i * MESSAGES + m)
                  .addSge(b.region.address() + b.slot(i, m), BYTES, b.region.lkey()));
        }
      }
      for (int i = 0; i < COUNT; i++) {
        for (int m = 0; m < MESSAGES; m++) {
          a.memory.set(ValueLayout.JAVA_LONG, a.slot(i, m), pattern(i, m));
          a.pairs.get(i).postSend(
              new SendWorkRequest()
                  .wrId(i * MESSAGES + m)
                  .flags(SendFlag.SIGNALED)
                  .addSge(a.region.address() + a.slot(i, m), BYTES, a.region.lkey()));
        }
      }
      b.awaitAll();
      a.awaitAll();
      for (int i = 0; i < COUNT; i++) {
        for (int m = 0; m < MESSAGES; m++) {
          assertEquals(pattern(i, m), b.memory.get(ValueLayout.JAVA_LONG, b.slot(i, m)), "pair " + i);
        }
      }
      assertEquals(COUNT, a.context.device().resources().count(ResourceType.QP));
      a.pairs.forEach(QueuePair::destroy);
      assertEquals(0, a.context.device().resources().count(ResourceType.QP));
    }
    before.assertUnchanged();
  }

  private static long pattern(int pair, int message) {
    return 0x5eed_0000_0000_0000L | (long) pair << 8 | message;
  }
}
