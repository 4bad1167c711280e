package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
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
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleWiring;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/**
 * The provider is pulled out under mixed traffic, in every way and many times, while another provider's traffic goes
 * on. {@code -Dorg.rdma4j.it.torture.cycles=N} says how many times.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class TortureIT {
  private static final int CYCLES = Integer.getInteger("org.rdma4j.it.torture.cycles", 100);
  private static final int WARM_UP = 10;

  /** Traffic that stands still for longer than this, and a few times what any thread had to wait, was held up. */
  private static final long STALL_MILLIS = 5_000;

  private static final int TURNS = 5;

  /** The JVM itself takes a block now and then; a device takes several. */
  private static final long FOREIGN_BLOCKS = 40;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private Links links;
  private Bundle other;
  private Links otherLinks;
  private Metronome metronome;
  private Endpoint here;
  private Endpoint there;
  private Bundle provider;
  private byte[] code;
  private long flushed;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void startOtherProvider() throws Exception {
    links = new Links(context, configurations);
    otherLinks = new Links(context, configurations, OtherProvider.SYMBOLIC_NAME);
    provider = Bundles.named(context, "org.rdma4j.rxe");
    code = OtherProvider.original();
    other = context.installBundle("other", OtherProvider.stream(OtherProvider.renamed()));
    other.start();
    metronome = new Metronome();
    here = new Endpoint(otherLinks.add("ot0", Links.address(8)));
    there = new Endpoint(otherLinks.add("ot1", Links.address(9)));
    Endpoint.connect(here, there);
    here.start();
    there.start();
    here.awaitBusy();
    there.awaitBusy();
  }

  @After
  public void theOtherProviderHasNotNoticed() throws Exception {
    try {
      Endpoint.finish(here, there);
      for (Endpoint each : List.of(here, there)) {
        assertEquals(List.of(), each.problems());
        assertEquals("no events", List.of(), each.events());
        assertEquals(0, each.flushed());
        long allowed = STALL_MILLIS + TURNS * metronome.longestPauseMillis();
        assertTrue("stalled for " + each.longestPauseMillis() + " ms", each.longestPauseMillis() < allowed);
      }
    } finally {
      metronome.close();
      here.close();
      there.close();
      otherLinks.removeAll();
      other.uninstall();
      if (provider.getState() == Bundle.UNINSTALLED) {
        context.installBundle("reinstalled", OtherProvider.stream(code));
      }
      Bundles.startAll(context);
      links.removeAll();
    }
  }

  @Test
  public void thePulledProviderLeavesNothing() throws Exception {
    links.add("it0", Links.address(0));
    links.add("it1", Links.address(1));
    var old = new ArrayList<WeakReference<ClassLoader>>();
    Remains before = null;
    for (int cycle = 0; cycle < WARM_UP + CYCLES; cycle++) {
      if (cycle == WARM_UP) {
        before = remains();
      }
      remember(old);
      pullUnderTraffic(cycle);
    }
    assertTrue("nothing was flushed", flushed > 0);
    assertCollectable(old);
    Remains after = remains();
    assertEquals(new Remains(before.threads(), before.descriptors(), before.services(), 0),
        new Remains(after.threads(), after.descriptors(), after.services(), 0));
    assertTrue(before + " then " + after, after.nativeBlocks() - before.nativeBlocks() < FOREIGN_BLOCKS);
  }

  /** What there is with both devices. */
  private Remains remains() throws Exception {
    links.await("it0");
    links.await("it1");
    links.settle();
    return Remains.now(context);
  }

  @Test
  public void aHundredUpdatesLeaveNoClassLoader() throws Exception {
    links.add("it0", Links.address(0));
    var old = new ArrayList<WeakReference<ClassLoader>>();
    for (int update = 0; update < CYCLES; update++) {
      remember(old);
      provider.update(OtherProvider.stream(code));
      assertEquals("it0", links.await("it0").name());
    }
    assertEquals(CYCLES, old.size());
    assertCollectable(old);
  }

  private void pullUnderTraffic(int cycle) throws Exception {
    RdmaDevice a = links.await("it0");
    RdmaDevice b = links.await("it1");
    assertEquals(List.of("it0", "it1", "ot0", "ot1"), links.names());
    assertEquals("it0 begins anew", 0, Links.userPairs(a));
    var traffic = new Mixture(a, b);
    try {
      traffic.start();
      traffic.awaitBusy();
      pull(cycle);
      traffic.join();
      traffic.awaitFatal();
    } finally {
      traffic.release();
      traffic.close();
    }
    assertEquals("cycle " + cycle, List.of(), traffic.problems());
    flushed += traffic.flushed(); // In one cycle all that was posted may be done before the devices go.
    List<AsyncEventType> events = traffic.events();
    assertEquals(events.toString(), 2, Collections.frequency(events, AsyncEventType.DEVICE_FATAL));
    events.removeIf(each -> each == AsyncEventType.DEVICE_FATAL);
    // A connection whose peer's device went first may have given up before its own went.
    assertTrue(events.toString(), Set.of(AsyncEventType.QP_LAST_WQE_REACHED).containsAll(events));
  }

  private void pull(int cycle) throws Exception {
    switch (cycle % 10) {
      case 3 -> provider.update(OtherProvider.stream(code));
      case 5 -> refresh();
      case 7 -> {
        provider.uninstall();
        assertNothingLeft();
        provider = context.installBundle("reinstalled", OtherProvider.stream(code));
        provider.start();
      }
      default -> {
        provider.stop();
        assertNothingLeft();
        provider.start();
      }
    }
  }

  private void refresh() throws InterruptedException {
    var refreshed = new CountDownLatch(1);
    context
        .getBundle(0)
        .adapt(FrameworkWiring.class)
        .refreshBundles(List.of(provider), event -> refreshed.countDown());
    assertTrue(refreshed.await(30, TimeUnit.SECONDS));
  }

  /** Right after the provider has stopped, with nothing waited for. */
  private void assertNothingLeft() throws Exception {
    assertEquals(List.of("ot0", "ot1"), links.names());
    assertEquals("threads", List.of(), Links.threads("it0", "it1"));
    assertEquals("sockets", List.of(), Links.sockets(Links.address(0)));
    assertEquals("sockets", List.of(), Links.sockets(Links.address(1)));
    assertEquals("services", List.of(), services());
  }

  /** The devices' services of both providers, but those of the other one. */
  private List<String> services() throws Exception {
    List<String> found = new ArrayList<>();
    for (Class<?> type : List.of(IbDevice.class, CaptureSource.class)) {
      var references = context.getAllServiceReferences(type.getName(), null);
      for (var each : references == null ? new ServiceReference<?>[0] : references) {
        if (each.getBundle() != null && !each.getBundle().equals(other)) {
          found.add(each.toString());
        }
      }
    }
    return found;
  }

  /** Keeps the class loader of the present generation weakly. */
  private void remember(List<WeakReference<ClassLoader>> old) {
    ClassLoader now = provider.adapt(BundleWiring.class).getClassLoader();
    if (old.isEmpty() || !old.getLast().refersTo(now)) {
      old.add(new WeakReference<>(now));
    }
  }

  /** All but the class loader in use. */
  private void assertCollectable(List<WeakReference<ClassLoader>> loaders) {
    ClassLoader now = provider.adapt(BundleWiring.class).getClassLoader();
    assertTrue("generations " + loaders.size(), loaders.size() > 1);
    Remains.collect(() -> loaders.stream().allMatch(each -> each.refersTo(now) || each.refersTo(null)));
    List<Integer> held = new ArrayList<>();
    for (int i = 0; i < loaders.size(); i++) {
      if (!loaders.get(i).refersTo(now) && !loaders.get(i).refersTo(null)) {
        held.add(i);
      }
    }
    assertEquals("still held of " + loaders.size() + " generations", List.of(), held);
  }
}
