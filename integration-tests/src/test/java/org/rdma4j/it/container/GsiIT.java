package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** The general services queue pairs of both providers talk to each other, as connection managers will. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class GsiIT {
  private static final int GSI = 1;
  private static final int QKEY = 0x8001_0000;
  private static final int GRH_BYTES = 40;
  private static final int MAD_BYTES = 256;
  private static final int ROUNDS = 50;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private PluggedCard plugged;
  private Links links;
  private Side card;
  private Side peer;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  /** A port with its general services queue pair. */
  private static final class Side implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(4096, 4096);
    private final Context opened;
    private final ProtectionDomain pd;
    private final CompletionQueue cq;
    private final QueuePair qp;
    private final MemoryRegion region;

    private Side(RdmaDevice device) {
      opened = device.open();
      pd = opened.allocatePd();
      cq = opened.createCq(64, null, 0);
      qp =
          pd.createQp(
              new QpInitAttributes(QpType.GSI).sendCq(cq).recvCq(cq).capabilities(new QpCapabilities(8, 8, 1, 1, 0)));
      region = pd.registerMemory(memory, Access.LOCAL_WRITE);
      qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).qkey(QKEY));
      qp.modify(new QpAttributes().state(QpState.RTR));
      qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
    }

    private GidEntry address() {
      return opened.device().gidTable(1).entries().getFirst();
    }

    private WorkCompletion next() {
      WorkCompletion[] batch = WorkCompletion.batch(1);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (cq.poll(batch) == 0) {
        assertTrue("no completion within 20 s on " + qp, System.nanoTime() < deadline);
        LockSupport.parkNanos(1_000);
      }
      assertEquals(batch[0].toString(), WcStatus.SUCCESS, batch[0].status());
      return batch[0];
    }

    @Override
    public void close() {
      opened.close();
      arena.close();
    }
  }

  @Before
  public void begin() throws Exception {
    Bundles.named(context, "org.rdma4j.rdma.cm").stop(); // It has the queue pair 1 of every port.
    links = new Links(context, configurations);
    plugged = new PluggedCard(context, configurations);
    links.add("it0", Links.address(0));
    card = new Side(links.await("mlx5_0"));
    peer = new Side(links.await("it0"));
  }

  @After
  public void cleanUp() throws Exception {
    card.close();
    peer.close();
    links.removeAll();
    plugged.unplug();
  }

  @Test
  public void datagramsGoBothWays() {
    for (int i = 0; i < ROUNDS; i++) {
      exchange(card, peer, i);
      exchange(peer, card, i);
    }
    assertEquals(GSI, card.qp.number());
    assertEquals(GSI, peer.qp.number());
  }

  private static void exchange(Side from, Side to, int seed) {
    for (int i = 0; i < MAD_BYTES; i++) {
      from.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (seed * 31 + i));
    }
    to.memory.fill((byte) 0);
    to.qp.postReceive(
        new ReceiveWorkRequest()
            .wrId(seed)
            .addSge(to.region.address(), GRH_BYTES + MAD_BYTES, to.region.lkey()));
    AhAttributes path = new AhAttributes(1, to.address().gid(), from.address().index());
    try (AddressHandle handle = from.pd.createAh(path)) {
      from.qp.postSend(
          new SendWorkRequest()
              .wrId(seed)
              .flags(SendFlag.SIGNALED)
              .ah(handle)
              .remoteQpn(GSI)
              .remoteQkey(QKEY)
              .addSge(from.region.address(), MAD_BYTES, from.region.lkey()));
      assertEquals(seed, from.next().wrId());
    }
    WorkCompletion received = to.next();
    assertEquals(seed, received.wrId());
    assertEquals(GRH_BYTES + MAD_BYTES, received.byteLength());
    assertEquals(GSI, received.sourceQp());
    assertEquals(0, received.pkeyIndex());
    assertEquals(WcFlag.GRH, received.flags());
    for (int i = 0; i < MAD_BYTES; i++) {
      assertEquals((byte) (seed * 31 + i), to.memory.get(ValueLayout.JAVA_BYTE, GRH_BYTES + i));
    }
  }
}
