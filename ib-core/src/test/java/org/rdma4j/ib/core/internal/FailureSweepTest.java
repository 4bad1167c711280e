package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.fake.FailingDevice;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;

/**
 * Every hook of the provider fails once, in every way, on the way up, while objects are made, and on the way down: what
 * failed is told with its errno, nothing is left, and the next attempt works.
 */
@Timeout(120)
class FailureSweepTest {
  private static final MacAddress MAC = MacAddress.parse("52:54:00:00:02:01");

  private final Arena arena = Arena.ofShared();
  private final List<String> services = new ArrayList<>();
  private final DeviceRegistry registry =
      new DeviceRegistry(this::publish, new GidManager(() -> Map.of("eth0", netdev())));
  private int publishFailures;

  @AfterEach
  void close() {
    registry.close();
    arena.close();
    assertEquals(List.of(), services);
  }

  /** What a provider throws, and the errno that its user sees. */
  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of((Supplier<Throwable>) () -> new VerbsException(Errno.EADDRINUSE, "planted"), Errno.EADDRINUSE),
        Arguments.of((Supplier<Throwable>) () -> new IllegalStateException("planted"), Errno.EIO),
        Arguments.of((Supplier<Throwable>) () -> new AssertionError("planted"), Errno.EIO),
        Arguments.of((Supplier<Throwable>) () -> new OutOfMemoryError("planted"), Errno.ENOMEM));
  }

  private static NetdevSnapshot netdev() {
    List<InetAddress> addresses =
        Stream.of("fe80::5054:ff:fe00:201", "192.0.2.2", "2001:db8::2").map(InetAddress::ofLiteral).toList();
    return new NetdevSnapshot(new Netdev("eth0", 2, true, 1500, MAC), false, addresses);
  }

  private Runnable publish(RegisteredDevice device) {
    if (publishFailures-- > 0) {
      throw new IllegalStateException("the bundle stops");
    }
    services.add(device.name());
    return () -> services.remove(device.name());
  }

  @ParameterizedTest
  @MethodSource("failures")
  void comingUp(Supplier<Throwable> failure, Errno errno) {
    Set<String> tried = new LinkedHashSet<>();
    try (LogCapture quiet = new LogCapture(DeviceGids.class)) {
      for (int n = 1;; n++) {
        FailingDevice device = new FailingDevice("fake%d");
        device.failAt(n, failure);
        VerbsException refused = null;
        try {
          registry.register(device);
        } catch (VerbsException e) {
          refused = e;
        }
        String failed = device.failed();
        if (failed == null) {
          assertNull(refused);
          registry.unregister(device);
          break;
        }
        tried.add(failed);
        if (refused == null) {
          // A GID that cannot be had is not worth the device.
          assertTrue(Set.of("addGid", "portNetdev", "portAddressFilter").contains(failed), failed);
          assertEquals("fake0", device.name());
          registry.unregister(device);
        } else {
          assertEquals(errno, refused.errno(), failed);
          assertTrue(refused.getMessage().contains("planted"), refused.getMessage());
          assertEquals(refused, device.registrationFailure());
        }
        assertGone(device);
        assertWorks();
      }
      assertTrue(quiet.messages().size() > 0);
    }
    assertEquals(
        Set.of(
            "linkType", "queryDevice", "portImmutable", "queryPort", "queryPkey", "portNetdev", "portAddressFilter",
            "addGid", "enable"),
        tried);
  }

  @Test
  void publishing() {
    FailingDevice device = new FailingDevice("fake%d");
    publishFailures = 1;
    try {
      registry.register(device);
    } catch (VerbsException e) {
      assertEquals(Errno.EIO, e.errno());
    }
    assertGone(device);
    assertWorks();
  }

  @ParameterizedTest
  @MethodSource("failures")
  void makingObjects(Supplier<Throwable> failure, Errno errno) {
    FailingDevice device = new FailingDevice("fake%d");
    registry.register(device);
    RdmaDevice view = registry.devices().getLast().control().view("org.example");
    Set<String> tried = new LinkedHashSet<>();
    for (int n = 1;; n++) {
      Context user = view.open();
      device.failAt(n, failure);
      VerbsException refused = null;
      try {
        makeEverything(user);
      } catch (VerbsException e) {
        refused = e;
      }
      if (device.failed() == null) {
        assertNull(refused);
        assertEquals(1, view.resources().count(ResourceType.QP));
        user.close();
        break;
      }
      tried.add(device.failed());
      assertEquals(errno, refused.errno(), device.failed());
      assertTrue(refused.getMessage().contains("planted"), refused.getMessage());
      user.close();
      assertEquals(0, device.objects.get(), device.failed());
      assertNoResources(view);
    }
    assertNoResources(view);
    registry.unregister(device);
    assertGone(device);
    assertTrue(
        tried.containsAll(
            Set.of(
                "createPd", "createCq", "createSrq", "createQp", "registerMr", "allocateMr", "allocateMw", "createAh")),
        tried.toString());
  }

  /** Failures of destruction on the way down: by the user, with the context, with the device. */
  @ParameterizedTest
  @MethodSource("failures")
  void goingDown(Supplier<Throwable> failure, Errno errno) {
    try (LogCapture objects = new LogCapture("org.rdma4j.ib.core.verbs.VerbsObject");
        LogCapture hooks = new LogCapture("org.rdma4j.ib.core.verbs.ProviderHooks")) {
      Set<String> tried = new LinkedHashSet<>();
      int told = 0;
      for (int n = 1;; n++) {
        FailingDevice device = new FailingDevice("fake%d");
        registry.register(device);
        RdmaDevice view = registry.devices().getLast().control().view("org.example");
        makeEverything(view.open());
        device.failAt(n, failure);
        registry.unregister(device);
        assertEquals(0, device.objects.get());
        assertNoResources(view);
        assertGone(device);
        if (device.failed() == null) {
          break;
        }
        tried.add(device.failed());
        told++;
        assertEquals(told, objects.messages().size() + hooks.messages().size(), device.failed());
      }
      assertEquals(
          Set.of(
              "destroy QP", "destroy AH", "destroy SRQ", "destroy MW", "destroy MR", "detach CQ", "destroy PD",
              "removeGid", "release"),
          tried);
    }
    assertWorks();
  }

  @ParameterizedTest
  @MethodSource("failures")
  void closingAContext(Supplier<Throwable> failure, Errno errno) {
    FailingDevice device = new FailingDevice("fake%d");
    registry.register(device);
    RdmaDevice view = registry.devices().getLast().control().view("org.example");
    try (LogCapture objects = new LogCapture("org.rdma4j.ib.core.verbs.VerbsObject")) {
      int n = 1;
      do {
        Context user = view.open();
        makeEverything(user);
        device.failAt(n++, failure);
        user.close();
        assertEquals(0, device.objects.get());
        assertNoResources(view);
      } while (device.failed() != null);
      assertEquals(n - 2, objects.messages().size());
    }
  }

  private void makeEverything(Context user) {
    ProtectionDomain domain = user.allocatePd();
    CompletionChannel channel = user.createCompletionChannel();
    CompletionQueue queue = user.createCq(8, channel, 0);
    SharedReceiveQueue shared = domain.createSrq(new SrqInitAttributes(8, 1));
    domain.createQp(new QpInitAttributes(QpType.RC).sendCq(queue).recvCq(queue).srq(shared));
    domain.registerMemory(arena.allocate(64), Access.LOCAL_WRITE);
    domain.allocateMr(4);
    domain.allocateMw(MwType.TYPE_1);
    domain.createAh(new AhAttributes(1, Gid.parse("::ffff:192.0.2.9"), 1));
  }

  private void assertNoResources(RdmaDevice view) {
    for (ResourceType each : List.of(ResourceType.QP, ResourceType.CQ, ResourceType.MR, ResourceType.PD,
        ResourceType.SRQ, ResourceType.CTX)) {
      assertEquals(0, view.resources().count(each), each.toString());
    }
  }

  private void assertGone(FailingDevice device) {
    assertEquals(List.of(), registry.devices());
    assertEquals(List.of(), services);
    assertEquals(1, device.log.stream().filter("release"::equals).count(), "released once");
    assertEquals(
        device.log.stream().filter(each -> each.startsWith("addGid")).count(),
        device.log.stream().filter(each -> each.startsWith("removeGid")).count(),
        device.log.toString());
  }

  private void assertWorks() {
    FailingDevice device = new FailingDevice("fake%d");
    List<String> calls = new ArrayList<>();
    ClientEntry client =
        new ClientEntry(
            new DeviceClient() {
              @Override
              public String name() {
                return "client";
              }

              @Override
              public void add(Context context) {
                calls.add("add");
              }

              @Override
              public void remove(Context context) {
                calls.add("remove");
              }
            },
            "org.example", 0, 0);
    registry.addClient(client);
    registry.register(device);
    assertEquals("fake0", device.name());
    registry.unregister(device);
    registry.removeClient(client);
    assertEquals(List.of("add", "remove"), calls);
  }
}
