package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Providers whose hooks do not return: they are named, left behind, and hang nobody else. */
@Timeout(60)
class HangingProviderTest {
  private final DeviceRegistry registry = new DeviceRegistry(device -> () -> {}, new GidManager(Map::of));
  private final CountDownLatch atTheEnd = new CountDownLatch(1);
  private final AtomicInteger hung = new AtomicInteger();
  private final LogCapture logged = new LogCapture("org.rdma4j.ib.core.verbs.ProviderHooks");
  private final FakeDevice device = new FakeDevice("fake0");
  private final List<FakeQp> pairs = new ArrayList<>();
  private RdmaDevice view;
  private Context user;

  @BeforeEach
  void open() {
    registry.configure(new Settings(5_000, 30_000, 20, 60));
    registry.register(device);
    view = registry.devices().getLast().control().view("org.example");
    user = view.open();
    ProtectionDomain domain = user.allocatePd();
    CompletionQueue queue = user.createCq(16, null, 0);
    for (int i = 0; i < 7; i++) {
      pairs.add((FakeQp) domain.createQp(new QpInitAttributes(QpType.RC).sendCq(queue).recvCq(queue)));
    }
  }

  @AfterEach
  void close() {
    atTheEnd.countDown();
    registry.close();
    logged.close();
    assertEquals(List.of(), registry.devices());
  }

  private void hang() {
    hung.incrementAndGet();
    boolean interrupted = false;
    while (atTheEnd.getCount() > 0) {
      try {
        atTheEnd.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void assertGone() {
    assertEquals(0, view.resources().count(ResourceType.QP));
    assertEquals(0, view.resources().count(ResourceType.CQ));
    assertEquals(0, view.resources().count(ResourceType.PD));
    assertEquals(List.of(), registry.devices());
    for (QueuePair each : pairs) {
      assertEquals(QpState.ERR, each.state());
      each.destroy();
      assertEquals(Errno.EIO, assertThrows(VerbsException.class, each::query).errno());
    }
    FakeDevice again = new FakeDevice("fake%d");
    registry.register(again);
    assertEquals("fake0", again.name());
    registry.unregister(again);
  }

  private void assertNamed(String what) {
    List<String> messages = logged.messages();
    assertTrue(messages.stream().anyMatch(each -> each.contains(what) && each.contains("is left behind")),
        messages.toString());
    assertTrue(
        messages.stream()
            .anyMatch(each ->
                each.contains(what) && each.contains("does not return")
                    && each.contains("at " + HangingProviderTest.class.getName() + ".hang(")),
        messages.toString());
  }

  @Test
  void aFlushThatDoesNotReturn() {
    pairs.get(1).inQuiesce(this::hang);
    pairs.get(2).postSend(new SendWorkRequest().wrId(2));
    registry.unregister(device);
    assertNamed("flush of QP " + pairs.get(1).number());
    assertEquals(1, hung.get());
    assertEquals(0, device.objects.get(), "the others, and this one after it, were destroyed");
    assertEquals("release", device.log.getLast());
    WorkCompletion[] batch = WorkCompletion.batch(4);
    assertEquals(1, pairs.get(2).sendCq().poll(batch), "others are flushed");
    assertGone();
  }

  @Test
  void aDestructionThatDoesNotReturn() {
    pairs.get(3).inDestroy(this::hang);
    registry.unregister(device);
    assertNamed("end of QP as QP " + pairs.get(3).number());
    assertEquals(1, device.objects.get());
    assertEquals("release", device.log.getLast());
    assertGone();
    atTheEnd.countDown();
    while (device.objects.get() != 0) {
      Thread.onSpinWait(); // It comes back late, and harms nobody.
    }
    assertGone();
  }

  /** A device that hangs altogether does not take the patience with each of its objects. */
  @Test
  void ofManyThatHangAFewAreTried() {
    pairs.forEach(each -> each.inQuiesce(this::hang));
    pairs.forEach(each -> each.inDestroy(this::hang));
    registry.unregister(device);
    assertEquals(8, hung.get(), "four flushes, four destructions");
    assertEquals("release", device.log.getLast());
    assertGone();
  }

  @Test
  void anErrorInAHookStopsNothing() {
    pairs.get(0).inQuiesce(() -> {
      throw new AssertionError("provider");
    });
    pairs.get(1).inDestroy(() -> {
      throw new StackOverflowError();
    });
    try (LogCapture object = new LogCapture("org.rdma4j.ib.core.verbs.VerbsObject")) {
      registry.unregister(device);
      assertEquals(1, object.messages().size());
    }
    assertEquals(1, logged.messages().size());
    assertEquals("release", device.log.getLast());
    assertGone();
  }

  @Test
  void aReleaseThatDoesNotReturn() {
    device.inRelease(this::hang);
    registry.unregister(device);
    assertNamed("release of fake0");
    assertGone();
  }

  @Test
  void aContextThatClosesDoesNotHangEither() {
    registry.devices().getLast().control().patience(20, 60);
    pairs.get(0).inDestroy(this::hang);
    user.close();
    assertNamed("end of QP as QP " + pairs.get(0).number());
    assertEquals(0, view.resources().count(ResourceType.QP));
    assertEquals(0, view.resources().count(ResourceType.PD));
    atTheEnd.countDown();
    registry.unregister(device);
    assertEquals("release", device.log.getLast());
  }

  @Test
  void aProviderThatDoesNotComeUpCanBeRemoved() throws InterruptedException {
    var inside = new CountDownLatch(1);
    FakeDevice slow =
        new FakeDevice("slow").inEnable(
            () -> {
              inside.countDown();
              hang();
            });
    List<VerbsException> refused = new ArrayList<>();
    Thread coming =
        Thread.ofPlatform().start(() -> refused.add(assertThrows(VerbsException.class, () -> registry.register(slow))));
    inside.await();
    try (LogCapture device = new LogCapture(RegisteredDevice.class)) {
      registry.unregister(slow);
      assertTrue(device.messages().getFirst().contains("at " + HangingProviderTest.class.getName() + ".hang("),
          device.messages().toString());
    }
    assertFalse(registry.devices().stream().anyMatch(each -> each.name().equals("slow")));
    assertEquals("release", slow.log.getLast());
    atTheEnd.countDown();
    coming.join();
    assertEquals(Errno.ENODEV, refused.getFirst().errno());
    assertEquals(1, registry.devices().size());
  }
}
