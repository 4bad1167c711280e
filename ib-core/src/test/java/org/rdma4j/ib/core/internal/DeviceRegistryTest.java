package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.VerbsException;

/** How devices and clients find each other, in which order, and how they part. */
@Timeout(60)
class DeviceRegistryTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());
  private final DeviceRegistry registry = new DeviceRegistry(this::publish, new GidManager(Map::of));
  private final CountDownLatch atTheEnd = new CountDownLatch(1);
  private long nextId;

  @AfterEach
  void close() {
    atTheEnd.countDown();
    registry.close();
    assertEquals(List.of(), registry.devices());
  }

  private Runnable publish(RegisteredDevice device) {
    log.add("publish " + device.name());
    return () -> log.add("withdraw " + device.name());
  }

  /** A client that writes down what it is told. */
  private class Client implements DeviceClient {
    private final String name;
    private final Consumer<Context> onAdd;
    private final Consumer<Context> onRemove;

    Client(String name, Consumer<Context> onAdd, Consumer<Context> onRemove) {
      this.name = name;
      this.onAdd = onAdd;
      this.onRemove = onRemove;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void add(Context context) {
      log.add("add " + name + " " + context.deviceName());
      onAdd.accept(context);
    }

    @Override
    public void remove(Context context) {
      log.add("remove " + name + " " + context.deviceName());
      onRemove.accept(context);
    }
  }

  private ClientEntry client(String name, Consumer<Context> onAdd, Consumer<Context> onRemove) {
    ClientEntry entry = new ClientEntry(new Client(name, onAdd, onRemove), "org.example", 0, nextId++);
    registry.addClient(entry);
    return entry;
  }

  private ClientEntry client(String name) {
    return client(name, context -> {}, context -> {});
  }

  private FakeDevice register(String name) {
    FakeDevice device = new FakeDevice(name);
    registry.register(device);
    return device;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void clientsAreToldInOrderAndInReverse() {
    client("a");
    client("b");
    FakeDevice device = register("fake%d");
    assertEquals("fake0", device.name());
    assertTrue(device.isRegistered());
    client("c");
    registry.unregister(device);
    assertFalse(device.isRegistered());
    assertEquals(
        List.of(
            "publish fake0", "add a fake0", "add b fake0", "add c fake0", "withdraw fake0", "remove c fake0",
            "remove b fake0", "remove a fake0"),
        log);
    assertEquals(List.of("enable", "release"), device.log);
  }

  @Test
  void higherRankingComesFirst() {
    client("late");
    registry.addClient(new ClientEntry(new Client("first", c -> {}, c -> {}), "org.example", 10, nextId++));
    register("fake0");
    assertEquals(List.of("publish fake0", "add first fake0", "add late fake0"), log);
  }

  @Test
  void aClientThatThrowsInAddIsNotToldOfTheRemoval() {
    client("a");
    ClientEntry bad =
        client(
            "bad",
            context -> {
              context.allocatePd();
              throw new IllegalStateException("expected by the test");
            },
            context -> {});
    client("c");
    FakeDevice device = register("fake0");
    assertEquals(0, device.objects.get());
    registry.removeClient(bad);
    registry.unregister(device);
    assertEquals(
        List.of(
            "publish fake0", "add a fake0", "add bad fake0", "add c fake0", "withdraw fake0", "remove c fake0",
            "remove a fake0"),
        log);
  }

  @Test
  void aClientThatThrowsInRemoveStopsNothing() {
    client(
        "bad",
        context -> {},
        context -> {
          throw new IllegalStateException("expected by the test");
        });
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals("release", device.log.getLast());
  }

  @Test
  void whileClientsAreToldTheyCannotCreateButCanDestroy() {
    List<Errno> errors = new ArrayList<>();
    List<AutoCloseable> made = new ArrayList<>();
    client(
        "a",
        context -> made.add(context.allocatePd()),
        context -> {
          errors.add(assertThrows(VerbsException.class, context::allocatePd).errno());
          try {
            made.getFirst().close();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals(List.of(Errno.ENODEV), errors);
    assertEquals(List.of("enable", "destroy PD", "release"), device.log);
  }

  @Test
  void whatAClientLeavesIsDestroyed() {
    ClientEntry forgetful = client("a", Context::allocatePd, context -> {});
    FakeDevice device = register("fake0");
    assertEquals(1, device.objects.get());
    registry.removeClient(forgetful);
    assertEquals(0, device.objects.get());
    registry.unregister(device);
  }

  @Test
  void aBlockingClientIsLeftBehind() {
    registry.configure(new Settings(20, 60, 5_000, 30_000));
    client("a");
    client("blocks", context -> {}, context -> await(atTheEnd));
    client("c");
    FakeDevice device = register("fake0");
    try (LogCapture logged = new LogCapture(Watch.class)) {
      registry.unregister(device);
      assertEquals(2, logged.messages().size());
      String named = logged.messages().getFirst();
      assertTrue(named.startsWith("client blocks of bundle org.example in remove for fake0 does not return"), named);
      assertTrue(named.contains("at " + DeviceRegistryTest.class.getName() + ".await("), named);
    }
    assertEquals(List.of("remove c fake0", "remove blocks fake0", "remove a fake0"), log.subList(5, 8));
    assertEquals("release", device.log.getLast());
  }

  @Test
  void aClientThatBlocksInAddDelaysOthersOnlyForAWhile() {
    registry.configure(new Settings(20, 60, 5_000, 30_000));
    client("blocks", context -> await(atTheEnd), context -> {});
    client("b");
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals(
        List.of("publish fake0", "add blocks fake0", "add b fake0", "withdraw fake0", "remove b fake0"), log);
  }

  @Test
  void aClientMayLeaveInRemove() {
    List<ClientEntry> self = new ArrayList<>();
    self.add(client("a", context -> {}, context -> registry.removeClient(self.getFirst())));
    client("b");
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals(List.of("remove b fake0", "remove a fake0"), log.subList(4, 6));
    log.clear();
    register("fake0");
    assertEquals(List.of("publish fake0", "add b fake0"), log);
  }

  /** A bundle that stops itself holds its lock meanwhile: all removals that come of it must be on its thread. */
  @Test
  void aClientThatLeavesInRemoveLeavesAllDevicesOnItsThread() {
    List<ClientEntry> self = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    self.add(
        client(
            "a",
            context -> {},
            context -> {
              threads.add(Thread.currentThread());
              registry.removeClient(self.getFirst());
            }));
    FakeDevice first = register("fake0");
    FakeDevice second = register("fake1");
    registry.unregister(second);
    assertEquals(2, threads.size());
    assertEquals(threads.getFirst(), threads.getLast());
    registry.unregister(first);
    assertEquals(1, count("remove a fake0"));
    assertEquals(1, count("remove a fake1"));
  }

  @Test
  void aClientMayLeaveInAdd() {
    List<ClientEntry> self = new ArrayList<>();
    self.add(client("a", context -> registry.removeClient(self.getFirst()), context -> {}));
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals(List.of("publish fake0", "add a fake0", "withdraw fake0"), log);
  }

  @Test
  void aClientMayBringAnother() {
    client("a", context -> client("b"), context -> {});
    FakeDevice device = register("fake0");
    registry.unregister(device);
    assertEquals(6, log.size(), log::toString);
    assertTrue(log.contains("add b fake0") && log.contains("remove b fake0"), log::toString);
  }

  @Test
  void aClientMayRemoveTheDeviceInAdd() {
    FakeDevice device = new FakeDevice("fake0");
    client("a", context -> registry.unregister(device), context -> {});
    client("b");
    registry.register(device);
    assertEquals(List.of("publish fake0", "add a fake0", "withdraw fake0", "remove a fake0"), log);
    assertEquals("release", device.log.getLast());
    assertEquals("fake0", register("fake%d").name());
  }

  @Test
  void theNameIsFreeAgainAtOnce() {
    for (int i = 0; i < 10; i++) {
      FakeDevice device = register("fake%d");
      assertEquals("fake0", device.name());
      registry.unregister(device);
      registry.unregister(device);
    }
  }

  @Test
  void aBadProviderIsToldWhyAndLeavesNoTrace() {
    FakeDevice good = register("fake0");
    FakeDevice same = new FakeDevice("fake0");
    assertEquals(Errno.ENFILE, assertThrows(VerbsException.class, () -> registry.register(same)).errno());
    assertEquals(Errno.ENFILE, same.registrationFailure().errno());
    FakeDevice broken =
        new FakeDevice("broken").enableFailure(new VerbsException(Errno.EADDRINUSE, "port 4791 is taken"));
    assertEquals(Errno.EADDRINUSE, assertThrows(VerbsException.class, () -> registry.register(broken)).errno());
    assertEquals("port 4791 is taken", broken.registrationFailure().getMessage());
    assertEquals(List.of("release"), broken.log);
    FakeDevice wrong =
        new FakeDevice("wrong") {
          @Override
          protected DeviceAttributes queryDevice() {
            return null;
          }
        };
    assertThrows(VerbsException.class, () -> registry.register(wrong));
    registry.unregister(broken);
    registry.unregister(wrong);
    registry.unregister(same);
    assertTrue(good.isRegistered());
    assertNull(good.registrationFailure());
    assertEquals(1, registry.devices().size());
  }

  @Test
  void aDeviceThatWentBeforeItCameDoesNotCome() {
    FakeDevice device = new FakeDevice("fake0");
    registry.unregister(device);
    registry.register(device);
    assertEquals(List.of(), device.log);
    assertEquals(List.of(), registry.devices());
  }

  @Test
  void closingRemovesAllDevices() {
    FakeDevice first = register("fake%d");
    FakeDevice second = register("fake%d");
    RdmaDevice view = registry.devices().getLast().control().view("test");
    Context user = view.open();
    assertNotNull(user.allocatePd());
    registry.close();
    assertEquals("release", first.log.getLast());
    assertEquals("release", second.log.getLast());
    assertEquals(0, second.objects.get());
    assertEquals(List.of("withdraw fake1", "withdraw fake0"), log.subList(2, 4));
    assertEquals(0, view.resources().count(ResourceType.CTX));
  }

  /** Devices and clients come and go on four threads; every add has its remove, nothing is left. */
  @Test
  void aStorm() throws Exception {
    client("always");
    List<Future<?>> work = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int t = 0; t < 2; t++) {
        work.add(threads.submit(this::devicesComeAndGo));
        work.add(threads.submit(this::clientsComeAndGo));
      }
      for (Future<?> each : work) {
        each.get();
      }
    }
    assertEquals(200, count("add always"));
    assertEquals(200, count("remove always"));
    assertEquals(count("add comes"), count("remove comes"));
    assertEquals(200, count("publish"));
    assertEquals(200, count("withdraw"));
    assertEquals(List.of(), registry.devices());
  }

  private void devicesComeAndGo() {
    for (int i = 0; i < 100; i++) {
      FakeDevice device = new FakeDevice("fake%d");
      registry.register(device);
      registry.unregister(device);
      assertEquals(0, device.objects.get());
      assertEquals("release", device.log.getLast());
    }
  }

  private void clientsComeAndGo() {
    for (int i = 0; i < 100; i++) {
      Client client = new Client("comes", DeviceRegistryTest::allocateUnlessGoing, context -> {});
      ClientEntry entry = new ClientEntry(client, "org.example", 0, 1000 + i);
      registry.addClient(entry);
      registry.removeClient(entry);
    }
  }

  private static void allocateUnlessGoing(Context context) {
    try {
      context.allocatePd();
    } catch (VerbsException e) {
      assertEquals(Errno.ENODEV, e.errno());
    }
  }

  private long count(String prefix) {
    return log.stream().filter(each -> each.startsWith(prefix)).count();
  }
}
