package org.rdma4j.benchmarks.speed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.verbs.AddressInfo;
import org.rdma4j.rdma.cm.verbs.Endpoints;
import org.rdma4j.rdma.cm.verbs.RdmaVerbs;
import org.rdma4j.rdma.cm.verbs.Sge;
import org.rdma4j.roce.address.Gid;

/** The calls of {@code rdma_verbs.h} between two synchronous endpoints allocate nothing, as those below them. */
class CmVerbsSteadyStateTest {
  private static final com.sun.management.ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int MESSAGE = 64;
  private static final int TIMES = 256;

  private final WorkCompletion[] batch = WorkCompletion.batch(1);

  @Test
  void steadyStateAllocatesNothing() throws Exception {
    try (CmEnd end = new CmEnd("verbs", Gid.parse("::ffff:127.77.107.1"));
        Arena arena = Arena.ofShared()) {
      InetSocketAddress local = new InetSocketAddress(end.address, 0);
      RdmaCmId listener = endpoint(end, AddressInfo.ANY.with(AddressInfo.Flag.PASSIVE).withSource(local));
      listener.listen(1);
      AddressInfo hints = AddressInfo.ANY.withSource(local).withDestination(listener.localAddress());
      RdmaCmId active = endpoint(end, hints);
      CompletableFuture<Void> connecting = CompletableFuture.runAsync(() -> active.connect(null));
      RdmaCmId passive = listener.getRequest(LIMIT);
      passive.accept(null);
      connecting.get(LIMIT.toSeconds(), TimeUnit.SECONDS);

      MemoryRegion from = RdmaVerbs.registerMessages(active, arena.allocate(MESSAGE));
      MemoryRegion to = RdmaVerbs.registerWrite(passive, arena.allocate(MESSAGE));
      Sge[] pieces = {Sge.of(from.segment(), from)};
      MemorySegment heap = MemorySegment.ofArray(new byte[MESSAGE]);
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      long allocated;
      do {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < TIMES; i++) {
          RdmaVerbs.postReceive(passive, i, to.segment(), to);
          RdmaVerbs.postSend(active, i, from.segment(), from, SendFlag.SIGNALED);
          await(active.qp().sendCq());
          await(passive.qp().recvCq());
          RdmaVerbs.postReceive(passive, i, to.segment(), to);
          RdmaVerbs.postSendv(active, i, SendFlag.SIGNALED, pieces);
          await(active.qp().sendCq());
          await(passive.qp().recvCq());
          int flags = SendFlag.SIGNALED | SendFlag.INLINE;
          RdmaVerbs.postWrite(active, i, heap, null, flags, to.address(), to.rkey());
          await(active.qp().sendCq());
        }
        allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      } while (allocated > 0 && System.nanoTime() < deadline);
      assertEquals(0, allocated, "bytes allocated by " + TIMES + " times everything");
    }
  }

  private static RdmaCmId endpoint(CmEnd end, AddressInfo hints) {
    QpInitAttributes attributes =
        new QpInitAttributes(QpType.RC).capabilities(new QpCapabilities(4, 4, 1, 1, MESSAGE));
    AddressInfo info = AddressInfo.getAddressInfo(null, null, hints).getFirst();
    return Endpoints.createEndpoint(end.manager, info, null, attributes);
  }

  private void await(CompletionQueue cq) {
    while (cq.poll(batch) == 0) {
      Thread.onSpinWait();
    }
    assertEquals(WcStatus.SUCCESS, batch[0].status());
  }
}
