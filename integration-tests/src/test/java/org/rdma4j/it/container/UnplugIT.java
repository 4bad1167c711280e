package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/**
 * Providers, links, the core and consumers that go while traffic flows: no completion is lost or reported twice, calls
 * fail cleanly, nothing of the device survives, the same name comes back, other devices do not notice.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class UnplugIT {
  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private final List<Endpoint> ends = new ArrayList<>();
  private Links links;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @After
  public void cleanUp() throws Exception {
    Bundles.startAll(context);
    ends.forEach(Endpoint::release);
    for (Endpoint end : ends) {
      end.join();
      end.close();
    }
    links().removeAll();
  }

  @Test
  public void trafficFlows() throws Exception {
    Endpoint a = end(links().add("it0", Links.address(0)));
    Endpoint b = end(links().add("it1", Links.address(1)));
    flow(a, b);
    Endpoint.finish(a, b);
    assertSound(a, b);
    assertEquals(0, a.flushed());
  }

  @Test
  public void theProviderStopsAndStarts() throws Exception {
    RdmaDevice first = links().add("it0", Links.address(0));
    Endpoint a = end(first);
    Endpoint b = end(links().add("it1", Links.address(1)));
    flow(a, b);
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");

    provider.stop();
    assertEquals("devices go before stop returns", List.of(), links().names());
    assertNothingLeft("it0", "it1");
    a.join();
    b.join();
    assertSound(a, b);
    assertTrue("flushed " + a.flushed(), a.flushed() >= QuietPair.RECEIVES);
    assertEquals(List.of(AsyncEventType.DEVICE_FATAL), a.events());
    assertRemoved(a);
    assertErrno(Errno.ENODEV, first::open);

    provider.start();
    RdmaDevice again = links().await("it0");
    assertEquals(List.of("it0", "it1"), both());
    Endpoint c = end(again);
    Endpoint d = end(links().await("it1"));
    flow(c, d);
    Endpoint.finish(c, d);
    assertSound(c, d);
    assertEquals("the new device knows the old one's users no more", 2, Links.userPairs(again));
  }

  @Test
  public void aLinkIsRemovedByConfiguration() throws Exception {
    Endpoint a = end(links().add("it0", Links.address(0)));
    Endpoint b = end(links().add("it1", Links.address(1)));
    Endpoint c = end(links().add("it2", Links.address(2)));
    Endpoint d = end(links().add("it3", Links.address(3)));
    flow(a, b);
    flow(c, d);

    links().remove("it0");
    assertNothingLeft("it0");
    a.join();
    assertSound(a);
    assertRemoved(a);
    // The peer's device is there: its retries run out, in order.
    b.join();
    assertSound(b);
    assertEquals(List.of(), b.events().stream().filter(AsyncEventType.DEVICE_FATAL::equals).toList());

    long before = c.succeeded();
    assertEquals("other devices do not notice", List.of(), c.events());
    Endpoint.finish(c, d);
    assertSound(c, d);
    assertTrue(c.succeeded() > before);
    assertEquals(0, c.flushed() + d.flushed());

    RdmaDevice again = links().add("it0", Links.address(0));
    assertEquals("it0", again.name());
  }

  @Test
  public void theCoreStopsAndStarts() throws Exception {
    Endpoint a = end(links().add("it0", Links.address(0)));
    Endpoint b = end(links().add("it1", Links.address(1)));
    flow(a, b);
    Bundle core = Bundles.named(context, "org.rdma4j.ib.core");

    core.stop();
    assertEquals(List.of(), links().names());
    a.join();
    b.join();
    assertSound(a, b);
    assertRemoved(a);

    core.start();
    Endpoint c = end(links().await("it0"));
    Endpoint d = end(links().await("it1"));
    flow(c, d);
    Endpoint.finish(c, d);
    assertSound(c, d);
  }

  @Test
  public void theProviderIsUpdated() throws Exception {
    comesBackAfter(provider -> provider.update());
  }

  @Test
  public void theProviderIsRefreshed() throws Exception {
    comesBackAfter(
        provider -> {
          var refreshed = new CountDownLatch(1);
          context
              .getBundle(0)
              .adapt(FrameworkWiring.class)
              .refreshBundles(List.of(provider), event -> refreshed.countDown());
          assertTrue(refreshed.await(30, TimeUnit.SECONDS));
        });
  }

  @Test
  public void theProviderIsUninstalledAndInstalled() throws Exception {
    comesBackAfter(
        provider -> {
          String location = provider.getLocation();
          provider.uninstall();
          try {
            assertEquals(List.of(), links().names());
            assertNothingLeft("it0", "it1");
          } finally {
            context.installBundle(location).start();
          }
        });
  }

  @Test
  public void whatABundleOpenedGoesWithIt() throws Exception {
    Bundle consumer = Bundles.named(context, "org.rdma4j.ulp.pingpong");
    RdmaDevice own = links().add("it0", Links.address(0));
    RdmaDevice device = as(consumer, "it0");
    Endpoint a = end(device);
    assertEquals(2, Links.userPairs(own));
    assertEquals(consumer.getSymbolicName(), own.resources().contexts().getFirst().owner().bundle());

    log.expect(
        "WARN .*bundle org.rdma4j.ulp.pingpong stopped and left open: context traffic of it0, opened at .*Endpoint.*"
            + "QP [0-9]+ made at .*Endpoint");
    consumer.stop();
    assertEquals(0, Links.userPairs(own));
    assertEquals(0, own.resources().count(ResourceType.CTX));
    assertThrows(VerbsException.class, () -> a.context().allocatePd());
    assertEquals(List.of("it0"), links().names());
    consumer.start();
  }

  @Test
  public void pluggingManyTimesLeavesNothing() throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    links().add("it0", Links.address(0));
    links().add("it1", Links.address(1));
    for (int round = 0; round < 10; round++) {
      Endpoint a = end(links().await("it0"));
      Endpoint b = end(links().await("it1"));
      flow(a, b);
      provider.stop();
      a.join();
      b.join();
      assertSound(a, b);
      assertNothingLeft("it0", "it1");
      provider.start();
    }
    assertEquals(List.of("it0", "it1"), both());
  }

  private interface Upheaval {
    void happenTo(Bundle provider) throws Exception;
  }

  private void comesBackAfter(Upheaval upheaval) throws Exception {
    Endpoint a = end(links().add("it0", Links.address(0)));
    Endpoint b = end(links().add("it1", Links.address(1)));
    flow(a, b);
    upheaval.happenTo(Bundles.named(context, "org.rdma4j.rxe"));
    a.join();
    b.join();
    assertSound(a, b);
    assertRemoved(a);
    Endpoint c = end(links().await("it0"));
    Endpoint d = end(links().await("it1"));
    flow(c, d);
    Endpoint.finish(c, d);
    assertSound(c, d);
  }

  private Links links() {
    if (links == null) {
      links = new Links(context, configurations);
    }
    return links;
  }

  private List<String> both() throws Exception {
    links().await("it0");
    links().await("it1");
    return links().names();
  }

  private RdmaDevice as(Bundle bundle, String name) throws Exception {
    BundleContext theirs = bundle.getBundleContext();
    var reference =
        theirs.getServiceReferences(RdmaDevice.class, "(" + RdmaDevice.PROPERTY_DEVICE + "=" + name + ")");
    return theirs.getService(reference.iterator().next());
  }

  private Endpoint end(RdmaDevice device) {
    var end = new Endpoint(device);
    ends.add(end);
    return end;
  }

  private static void flow(Endpoint a, Endpoint b) throws InterruptedException {
    Endpoint.connect(a, b);
    a.start();
    b.start();
    a.awaitBusy();
    b.awaitBusy();
  }

  private static void assertSound(Endpoint... ends) {
    for (Endpoint end : ends) {
      assertEquals(List.of(), end.problems());
      assertTrue(end.succeeded() > 0);
    }
  }

  private static void assertRemoved(Endpoint end) {
    assertTrue(end.context().isClosed());
    assertErrno(Errno.EIO, () -> end.pair().query());
    assertErrno(Errno.EIO, () -> end.domain().registerMemory(end.region().segment(), Access.LOCAL_WRITE));
    assertErrno(Errno.EIO, () -> end.queue().poll(WorkCompletion.batch(1)));
    assertErrno(Errno.EIO, () -> end.context().allocatePd());
    // Handles can still be closed, in any order.
    end.domain().close();
    end.pair().close();
    end.queue().close();
    end.region().close();
  }

  private static void assertErrno(Errno expected, ThrowingRunnable call) {
    assertEquals(expected, assertThrows(VerbsException.class, call).errno());
  }

  private static void assertNothingLeft(String... devices) throws Exception {
    List<String> threads =
        Links.threads(devices).stream().filter(name -> !name.startsWith("traffic on ")).toList();
    assertEquals("threads", List.of(), threads);
    for (String device : devices) {
      int number = Integer.parseInt(device.substring(2));
      assertEquals("socket of " + device, List.of(), Links.sockets(Links.address(number)));
    }
  }
}
