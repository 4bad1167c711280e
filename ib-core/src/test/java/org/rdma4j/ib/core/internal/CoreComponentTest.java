package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Annotation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** The core in a framework: what bundles that come and go see. */
@Timeout(60)
class CoreComponentTest {
  @TempDir Path storage;

  private TestFramework framework;
  private CoreComponent core;
  private Bundle provider;
  private Bundle consumer;

  /** The configuration as the component runtime would hand it over. */
  private record Configuration(
      long client_warn_millis,
      long client_limit_millis,
      long provider_warn_millis,
      long provider_limit_millis,
      boolean creation_sites)
      implements CoreConfiguration {
    @Override
    public Class<? extends Annotation> annotationType() {
      return CoreConfiguration.class;
    }
  }

  private static final class Client implements DeviceClient {
    private final String name;
    private final List<String> log;

    Client(String name, List<String> log) {
      this.name = name;
      this.log = log;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void add(Context context) {
      log.add("add " + name);
    }

    @Override
    public void remove(Context context) {
      log.add("remove " + name);
    }
  }

  @BeforeEach
  void start() throws Exception {
    framework = new TestFramework(storage);
    provider = framework.bundle("org.example.provider");
    consumer = framework.bundle("org.example.consumer");
    core = newCore();
  }

  private CoreComponent newCore() {
    return new CoreComponent(framework.context(), new Configuration(5_000, 30_000, 5_000, 30_000, true));
  }

  @AfterEach
  void stop() throws Exception {
    core.stop();
    framework.stop();
  }

  private static ServiceRegistration<IbDevice> register(Bundle bundle, FakeDevice device) {
    return bundle.getBundleContext().registerService(IbDevice.class, device, null);
  }

  private static RdmaDevice find(Bundle bundle) {
    BundleContext context = bundle.getBundleContext();
    ServiceReference<RdmaDevice> reference = context.getServiceReference(RdmaDevice.class);
    return reference == null ? null : context.getService(reference);
  }

  @Test
  void aDeviceIsPublishedWithItsProperties() {
    register(provider, new FakeDevice("fake%d").netdev("lo"));
    ServiceReference<RdmaDevice> reference = consumer.getBundleContext().getServiceReference(RdmaDevice.class);
    assertEquals("fake0", reference.getProperty(RdmaDevice.PROPERTY_DEVICE));
    assertEquals(0, reference.getProperty(RdmaDevice.PROPERTY_INDEX));
    assertEquals("5054:00ff:fe00:0201", reference.getProperty(RdmaDevice.PROPERTY_NODE_GUID));
    assertEquals("CA", reference.getProperty(RdmaDevice.PROPERTY_NODE_TYPE));
    assertEquals("InfiniBand", reference.getProperty(RdmaDevice.PROPERTY_TRANSPORT));
    assertEquals("Ethernet", reference.getProperty(RdmaDevice.PROPERTY_LINK_LAYER));
    assertEquals("lo", reference.getProperty(RdmaDevice.PROPERTY_NETDEV));
    assertEquals("fake", reference.getProperty(RdmaDevice.PROPERTY_DRIVER));
    assertEquals("::ffff:127.0.0.1", find(consumer).gidTable(1).entry(1).gid().toString());
  }

  @Test
  void everyBundleHasItsOwnDeviceAndLeavesNothing() throws BundleException {
    FakeDevice device = new FakeDevice("fake0");
    register(provider, device);
    RdmaDevice mine = find(consumer);
    RdmaDevice others = find(provider);
    assertNotSame(mine, others);
    assertSame(mine, find(consumer));
    Context context = mine.open("left");
    context.allocatePd();
    others.open().allocatePd();
    assertEquals("org.example.consumer", others.resources().contexts().getFirst().owner().bundle());
    consumer.stop();
    assertTrue(context.isClosed());
    assertEquals(1, device.objects.get());
    assertEquals(1, others.resources().count(ResourceType.CTX));
    consumer.start();
    assertNotSame(mine, find(consumer));
  }

  @Test
  void stoppingTheProviderReturnsWhenItIsReleased() throws BundleException {
    FakeDevice device = new FakeDevice("fake0");
    register(provider, device);
    Context context = find(consumer).open();
    CompletionQueue cq = context.createCq(16, null, 0);
    FakeQp qp = (FakeQp) context.allocatePd().createQp(new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq));
    qp.postSend(new SendWorkRequest().wrId(1));
    provider.stop();
    assertEquals("release", device.log.getLast());
    assertEquals(0, device.objects.get());
    assertNull(find(consumer));
    WorkCompletion[] batch = WorkCompletion.batch(2);
    assertEquals(1, cq.poll(batch));
    assertEquals(WcStatus.WR_FLUSH_ERR, batch[0].status());
    assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> cq.poll(batch)).errno());
    provider.start();
    register(provider, new FakeDevice("fake%d"));
    assertEquals("fake0", find(consumer).name());
  }

  @Test
  void clientsOfBundlesComeInOrderAndGoWithThem() throws BundleException {
    List<String> log = Collections.synchronizedList(new ArrayList<>());
    provider.getBundleContext().registerService(DeviceClient.class, new Client("a", log), null);
    consumer.getBundleContext().registerService(DeviceClient.class, new Client("b", log), null);
    ServiceRegistration<IbDevice> registration = register(provider, new FakeDevice("fake0"));
    consumer.stop();
    registration.unregister();
    assertEquals(List.of("add a", "add b", "remove b", "remove a"), log);
  }

  @Test
  void aCoreThatStopsRemovesAllAndAnotherTakesWhatIsThere() {
    List<String> log = Collections.synchronizedList(new ArrayList<>());
    consumer.getBundleContext().registerService(DeviceClient.class, new Client("a", log), null);
    FakeDevice first = new FakeDevice("fake0");
    ServiceRegistration<IbDevice> registration = register(provider, first);
    core.stop();
    assertEquals("release", first.log.getLast());
    assertNull(find(consumer));
    registration.unregister();
    register(provider, new FakeDevice("fake0"));
    assertNull(find(consumer));
    core = newCore();
    assertNotNull(find(consumer));
    assertEquals(List.of("add a", "remove a", "add a"), log);
  }

  @Test
  void aBadDeviceIsLoggedAndKnowsWhy() {
    try (LogCapture logged = new LogCapture(CoreComponent.class)) {
      FakeDevice bad = new FakeDevice("bad name");
      register(provider, bad);
      assertEquals(Errno.EINVAL, bad.registrationFailure().errno());
      assertEquals(1, logged.messages().size());
      assertTrue(
          logged.messages().getFirst().startsWith("device bad name of bundle org.example.provider is not registered"),
          logged.messages()::toString);
    }
    register(provider, new FakeDevice("fake0"));
    assertNotNull(find(consumer));
  }

  /** Whoever unregisters waits for the end of the removal, even while the device is still being added elsewhere. */
  @Test
  void unregistrationWaitsForARegistrationThatRuns() throws Exception {
    CountDownLatch inAdd = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    DeviceClient slow =
        new DeviceClient() {
          @Override
          public void add(Context context) {
            inAdd.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public void remove(Context context) {}
        };
    consumer.getBundleContext().registerService(DeviceClient.class, slow, null);
    FakeDevice device = new FakeDevice("fake0");
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<?> registering = threads.submit(() -> register(provider, device));
      inAdd.await();
      Future<?> stopping =
          threads.submit(
              () -> {
                provider.stop();
                assertEquals("release", device.log.getLast());
                return null;
              });
      while (device.isRegistered()) {
        Thread.onSpinWait();
      }
      assertFalse(stopping.isDone());
      goOn.countDown();
      stopping.get();
      registering.get();
    }
  }

  /** Start and stop of the provider from two threads while the consumer uses what is there. */
  @Test
  void aStorm() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<?>> work = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        String name = "storm" + t;
        work.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    FakeDevice device = new FakeDevice(name);
                    ServiceRegistration<IbDevice> registration = register(provider, device);
                    assertNull(device.registrationFailure());
                    registration.unregister();
                    assertEquals("release", device.log.getLast());
                    assertEquals(0, device.objects.get());
                  }
                }));
      }
      work.add(threads.submit(this::useWhatIsThere));
      for (Future<?> each : work) {
        each.get();
      }
    }
    assertNull(find(consumer));
  }

  private void useWhatIsThere() {
    for (int i = 0; i < 200; i++) {
      try {
        RdmaDevice device = find(consumer);
        if (device != null) {
          try (Context context = device.open()) {
            context.allocatePd();
            context.createCq(1, null, 0);
          }
        }
      } catch (VerbsException e) {
        assertTrue(e.errno() == Errno.ENODEV || e.errno() == Errno.EIO, e::toString);
      } catch (IllegalStateException e) {
        assertTrue(e.getMessage().contains("unregistered"), e::toString);
      }
    }
  }

  private List<String> warningsAtStop(Bundle bundle) throws BundleException {
    try (var log = new LogCapture(ServicePublisher.class)) {
      bundle.stop();
      return log.messages();
    }
  }

  @Test
  void whatABundleLeavesIsNamedWithWhereItWasMade() throws Exception {
    register(provider, new FakeDevice("fake0"));
    RdmaDevice device = find(consumer);
    Context context = device.open("forgetful");
    CompletionQueue cq = context.createCq(4, null, 0);
    context.allocatePd().createQp(new QpInitAttributes(QpType.UD).sendCq(cq).recvCq(cq));
    List<String> warnings = warningsAtStop(consumer);
    assertEquals(1, warnings.size(), warnings::toString);
    String text = warnings.getFirst();
    String here = CoreComponentTest.class.getName() + ".whatABundleLeavesIsNamedWithWhereItWasMade";
    assertTrue(text.startsWith("bundle org.example.consumer stopped and left open: context forgetful of fake0"), text);
    assertTrue(text.contains("opened at " + here + "(CoreComponentTest.java:"), text);
    for (String each : List.of("QP 17", "CQ 0", "PD 0")) {
      assertTrue(text.contains(each + " made at " + here), text);
    }
    assertEquals(0, device.resources().count(ResourceType.QP));
  }

  @Test
  void whoClosesWhatHeOpenedIsNotNamed() throws Exception {
    register(provider, new FakeDevice("fake0"));
    try (Context context = find(consumer).open()) {
      context.allocatePd(); // Closing the context ends it: that is what closing is for.
    }
    assertEquals(List.of(), warningsAtStop(consumer));
  }

  @Test
  void creationSitesCanBeSwitchedOff() throws Exception {
    core.configure(new Configuration(5_000, 30_000, 5_000, 30_000, false));
    register(provider, new FakeDevice("fake0"));
    find(consumer).open("forgetful").allocatePd();
    assertEquals(
        List.of("bundle org.example.consumer stopped and left open: context forgetful of fake0, with PD 0"),
        warningsAtStop(consumer));
  }

  @Test
  void aDeviceThatGoesLeavesNobodyToBlame() throws Exception {
    ServiceRegistration<IbDevice> registration = register(provider, new FakeDevice("fake0"));
    find(consumer).open().allocatePd();
    registration.unregister();
    assertEquals(List.of(), warningsAtStop(consumer));
  }
}
