package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** Clients and devices that come and go: the order of the calls, and what becomes of clients that misbehave. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ClientIT {
  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private final List<ServiceRegistration<?>> registrations = new ArrayList<>();

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @After
  public void unregister() {
    for (ServiceRegistration<?> registration : registrations.reversed()) {
      try {
        registration.unregister();
      } catch (IllegalStateException e) {
        // The test has done it.
      }
    }
  }

  @Test
  public void clientsAreAddedInOrderAndRemovedInReverse() {
    client("a");
    client("b");
    client("c");
    var device = device("vendor0");
    assertEquals(List.of("a+vendor0", "b+vendor0", "c+vendor0"), calls);
    calls.clear();
    device.registration().unregister();
    assertEquals(List.of("c-vendor0", "b-vendor0", "a-vendor0"), calls);
    assertEquals(1, device.device().released());
  }

  @Test
  public void aClientThatComesLaterIsToldOfWhatIsThere() {
    device("vendor0");
    device("vendor1");
    ServiceRegistration<?> client = client("a");
    assertEquals(List.of("a+vendor0", "a+vendor1"), calls);
    calls.clear();
    client.unregister();
    assertEquals(2, calls.size());
    assertTrue(calls.toString(), calls.containsAll(List.of("a-vendor0", "a-vendor1")));
  }

  @Test
  public void aClientThatThrowsInAddIsNotToldOfRemove() {
    log.expect("ERROR .*bad.* failed in add for vendor0");
    client("a");
    client(
        "bad",
        added -> {
          added.allocatePd();
          throw new IllegalStateException("no");
        },
        removed -> {});
    client("c");
    var device = device("vendor0");
    assertEquals(List.of("a+vendor0", "bad+vendor0", "c+vendor0"), calls);
    assertEquals("what it had made is destroyed", 0, device.device().domains());
    calls.clear();
    device.registration().unregister();
    assertEquals(List.of("c-vendor0", "a-vendor0"), calls);
  }

  @Test
  public void aClientThatThrowsInRemoveStopsNobody() {
    log.expect("ERROR .*bad.* failed in remove for vendor0");
    client("a");
    client(
        "bad",
        Context::allocatePd,
        removed -> {
          throw new IllegalStateException("no");
        });
    var device = device("vendor0");
    assertEquals(1, device.device().domains());
    calls.clear();
    device.registration().unregister();
    assertEquals(List.of("bad-vendor0", "a-vendor0"), calls);
    assertEquals("what it left is destroyed", 0, device.device().domains());
    assertEquals(1, device.device().released());
  }

  @Test
  public void aClientThatBlocksIsNamedAndLeftBehind() throws Exception {
    log.expect("WARN .*stubborn.* in remove for vendor0 does not return; after 100 ms it is at:(?s).*Latch.await");
    log.expect("WARN .*stubborn.* in remove for vendor0 is left behind after 500 ms");
    patience(100, 500);
    var blocked = new CountDownLatch(1);
    client("a");
    client(
        "stubborn",
        added -> {},
        removed -> {
          try {
            blocked.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    client("c");
    var device = device("vendor0");
    var other = device("vendor1");
    calls.clear();
    long start = System.nanoTime();
    device.registration().unregister();
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    assertEquals(List.of("c-vendor0", "stubborn-vendor0", "a-vendor0"), calls);
    assertEquals(1, device.device().released());
    assertTrue("left behind before its time: " + took + " ms", took >= 500);
    assertTrue("the other device does not notice", devices().containsKey("vendor1"));
    blocked.countDown();
    other.registration().unregister();
  }

  @Test
  public void theServiceIsThereBeforeTheClientsAndGoesBeforeThem() {
    var seen = Collections.synchronizedList(new ArrayList<Boolean>());
    client("a", added -> {}, removed -> seen.add(devices().containsKey("vendor0")));
    var device = device("vendor0");
    assertEquals(Map.of("vendor0", "vendor"), devices());
    device.registration().unregister();
    assertEquals(List.of(false), seen);
    assertEquals(Map.of(), devices());
  }

  @Test
  public void namesAreGivenAndGivenAgain() {
    var first = device("vendor%d");
    var second = device("vendor%d");
    assertEquals("vendor0", first.device().name());
    assertEquals("vendor1", second.device().name());
    first.registration().unregister();
    assertEquals("vendor0", device("vendor%d").device().name());
  }

  @Test
  public void aNameInUseIsRefused() {
    log.expect("ERROR .*vendor0");
    device("vendor0");
    var second = device("vendor0");
    assertEquals(Map.of("vendor0", "vendor"), devices());
    second.registration().unregister();
    assertEquals("the refused one takes nothing along", Map.of("vendor0", "vendor"), devices());
  }

  private record Registered(VendorDevice device, ServiceRegistration<?> registration) {}

  private Registered device(String name) {
    var device = new VendorDevice(name);
    ServiceRegistration<?> registration = context.registerService(IbDevice.class, device, null);
    registrations.add(registration);
    return new Registered(device, registration);
  }

  private ServiceRegistration<?> client(String name) {
    return client(name, added -> {}, removed -> {});
  }

  private ServiceRegistration<?> client(String name, Consumer<Context> onAdd, Consumer<Context> onRemove) {
    var client =
        new DeviceClient() {
          @Override
          public String name() {
            return name;
          }

          @Override
          public void add(Context added) {
            calls.add(name + "+" + added.deviceName());
            onAdd.accept(added);
          }

          @Override
          public void remove(Context removed) {
            calls.add(name + "-" + removed.deviceName());
            onRemove.accept(removed);
          }
        };
    ServiceRegistration<?> registration = context.registerService(DeviceClient.class, client, null);
    registrations.add(registration);
    return registration;
  }

  private Map<String, String> devices() {
    try {
      var found = new TreeMap<String, String>();
      for (var reference : context.getServiceReferences(RdmaDevice.class, "(ib.driver=vendor)")) {
        found.put((String) reference.getProperty("ib.device"), (String) reference.getProperty("ib.driver"));
      }
      return found;
    } catch (InvalidSyntaxException e) {
      throw new AssertionError(e);
    }
  }

  /** Configures the core and starts it anew with that. */
  private void patience(long warnMillis, long limitMillis) throws Exception {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put("client.warn.millis", warnMillis);
    properties.put("client.limit.millis", limitMillis);
    configurations.getConfiguration("org.rdma4j.ib.core", "?").update(properties);
    var core = Bundles.named(context, "org.rdma4j.ib.core");
    core.stop();
    core.start();
  }
}
