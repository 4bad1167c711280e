package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidTable;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.roce.address.Gid;

/** MADs between the devices of a container, of both providers, and what becomes of them when a provider goes. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class MadIT {
  private static final int CLASS = 0x0a;
  private static final int METHOD = 0x05;
  private static final MadRegistration WANTED = new MadRegistration(CLASS, 1, Set.of(METHOD));
  private static final long PATIENCE_SECONDS = 30;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject Mads mads;

  private Links links;
  private PluggedCard card;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  /** It has an agent on every port, and its queue pair 1. */
  @Before
  public void withoutTheConnectionManager() throws Exception {
    Bundles.named(context, "org.rdma4j.rdma.cm").stop();
  }

  @After
  public void cleanUp() throws Exception {
    Bundles.startAll(context);
    links.removeAll();
    if (card != null) {
      card.unplug();
    }
    assertEquals(List.of(), links.names());
  }

  /** What an agent was told, by whichever thread. */
  private final class End implements MadReceiver, AutoCloseable {
    final RdmaDevice device;
    final Gid gid;
    final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
    final BlockingQueue<ReceivedMad> headers = new LinkedBlockingQueue<>();
    final BlockingQueue<WcStatus> statuses = new LinkedBlockingQueue<>();
    final MadAgent agent;

    End(RdmaDevice device, String address) {
      this.device = device;
      this.gid = Gid.parse("::ffff:" + address);
      this.agent = mads.register(device, 1, WANTED, this);
    }

    @Override
    public void received(ReceivedMad mad, Optional<MadSend> asked) {
      headers.add(mad);
      received.add(mad.mad().toArray(ValueLayout.JAVA_BYTE));
    }

    MadAddress to(End peer) {
      GidTable table = device.gidTable(1);
      GidEntry own = table.find(gid);
      assertNotNull(gid + " is no GID of " + device.name(), own);
      return new MadAddress(new AhAttributes(1, peer.gid, own.index()), 0);
    }

    MadSend send(End peer, int method, int number, long milliseconds, int retries) {
      MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
      for (int i = MadHeader.BYTES; i < MadHeader.MAD_BYTES; i++) {
        mad.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + number));
      }
      MadHeader.BASE_VERSION.set(mad, 1);
      MadHeader.MANAGEMENT_CLASS.set(mad, CLASS);
      MadHeader.CLASS_VERSION.set(mad, 1);
      MadHeader.METHOD.set(mad, method);
      MadHeader.TRANSACTION_ID.set(mad, (long) agent.highTransactionId() << 32 | number);
      return agent.send(mad, to(peer), milliseconds, retries, (send, status) -> statuses.add(status));
    }

    WcStatus status() throws InterruptedException {
      WcStatus status = statuses.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertNotNull("nothing was told of a MAD of " + device.name(), status);
      return status;
    }

    void assertGot(End from, int number) throws InterruptedException {
      byte[] mad = received.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertNotNull("no MAD at " + device.name(), mad);
      for (int i = MadHeader.BYTES; i < MadHeader.MAD_BYTES; i++) {
        assertEquals((byte) (i * 31 + number), mad[i]);
      }
      ReceivedMad header = headers.remove();
      assertEquals(1, header.sourceQp());
      assertEquals(from.gid, header.source());
      assertEquals(gid, header.destination());
    }

    @Override
    public void close() {
      agent.close();
    }
  }

  private void exchange(End a, End b) throws InterruptedException {
    for (int i = 0; i < 300; i++) {
      a.send(b, METHOD, i, 0, 0);
      b.send(a, METHOD, 1000 + i, 0, 0);
    }
    for (int i = 0; i < 300; i++) {
      assertEquals(WcStatus.SUCCESS, a.status());
      assertEquals(WcStatus.SUCCESS, b.status());
      b.assertGot(a, i);
      a.assertGot(b, 1000 + i);
    }
  }

  @Test
  public void betweenTwoDevicesOfOneProvider() throws Exception {
    links = new Links(context, configurations);
    try (End a = new End(links.add("it0", Links.address(0)), Links.address(0));
        End b = new End(links.add("it1", Links.address(1)), Links.address(1))) {
      exchange(a, b);
      assertEquals(
          Errno.EINVAL, assertThrows(VerbsException.class, () -> mads.register(a.device, 1, WANTED, b)).errno());
      assertEquals(
          Errno.EINVAL, assertThrows(VerbsException.class, () -> mads.register(a.device, 2, WANTED, b)).errno());
    }
    assertEquals("nobody has agents any more", List.of(), madThreads());
  }

  @Test
  public void betweenBothProviders() throws Exception {
    links = new Links(context, configurations);
    card = new PluggedCard(context, configurations);
    try (End a = new End(links.await("mlx5_0"), PluggedCard.ADDRESS);
        End b = new End(links.add("it1", Links.address(1)), Links.address(1))) {
      exchange(a, b);
    }
  }

  /** Nobody is there for the class: the port itself answers, and the question is answered so. */
  @Test
  public void whoAsksForWhatIsNotThereIsTold() throws Exception {
    links = new Links(context, configurations);
    try (End a = new End(links.add("it0", Links.address(0)), Links.address(0));
        End b = new End(links.add("it1", Links.address(1)), Links.address(1))) {
      a.send(b, MadHeader.METHOD_GET, 7, 10_000, 0);
      assertEquals(WcStatus.SUCCESS, a.status());
      MemorySegment answer = MemorySegment.ofArray(a.received.remove());
      assertEquals(MadHeader.METHOD_GET_RESP, MadHeader.METHOD.getInt(answer));
      assertEquals(MadHeader.STATUS_UNSUPPORTED_METHOD_ATTRIBUTE, MadHeader.STATUS.getInt(answer));
      MadSend unanswered = a.send(b, METHOD, 8, 20, 2);
      assertEquals(WcStatus.RESP_TIMEOUT_ERR, a.status());
      assertEquals(2, unanswered.retried());
      for (int i = 0; i < 3; i++) {
        b.assertGot(a, 8);
      }
    }
  }

  @Test
  public void aProviderThatStopsAndComesBack() throws Exception {
    links = new Links(context, configurations);
    RdmaDevice first = links.add("it0", Links.address(0));
    RdmaDevice second = links.add("it1", Links.address(1));
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    for (int round = 0; round < 5; round++) {
      End a = new End(first, Links.address(0));
      End b = new End(second, Links.address(1));
      a.send(b, METHOD, round, 600_000, 5);
      b.assertGot(a, round);
      provider.stop();
      assertEquals(WcStatus.WR_FLUSH_ERR, a.status());
      assertTrue(a.statuses.isEmpty());
      assertEquals(
          Errno.ENODEV, assertThrows(VerbsException.class, () -> a.agent.send(mad(), anywhere(), 0, 0, null)).errno());
      a.close();
      b.close();
      assertEquals(List.of(), madThreads());
      provider.start();
      first = links.await("it0");
      second = links.await("it1");
    }
  }

  private static MemorySegment mad() {
    return MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
  }

  private static MadAddress anywhere() {
    return new MadAddress(new AhAttributes(1, Gid.parse("::1"), 0), 0);
  }

  private static List<String> madThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("ib_mad"))
        .toList();
  }
}
