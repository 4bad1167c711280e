package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.fake.FakeCq;
import org.rdma4j.ib.core.fake.FakeQp;

/** What users of a device see when it goes. */
class RemovalTest {
  private final TestDevice device = new TestDevice();

  private static void fails(Errno errno, Runnable code) {
    assertEquals(errno, assertThrows(VerbsException.class, code::run).errno());
  }

  @Test
  void endsInOrderAndKeepsCompletions() {
    ProtectionDomain pd = device.pd();
    FakeQp qp = device.qp(pd, QpType.RC);
    FakeCq cq = (FakeCq) qp.sendCq();
    for (int i = 0; i < 4; i++) {
      qp.postSend(new SendWorkRequest().wrId(i));
    }
    qp.completeSend();
    qp.postReceive(new ReceiveWorkRequest().wrId(100));
    device.provider.log.clear();
    device.remove();
    assertEquals(
        List.of(
            "quiesce QP",
            "destroy QP",
            "detach CQ",
            "destroy PD",
            "removeGid 2 2001:db8::2",
            "removeGid 1 ::ffff:192.0.2.2",
            "removeGid 0 fe80::5054:ff:fe00:201",
            "release"),
        device.provider.log);
    WorkCompletion[] batch = WorkCompletion.batch(3);
    assertEquals(3, cq.poll(batch));
    assertEquals(WcStatus.SUCCESS, batch[0].status());
    assertEquals(WcStatus.WR_FLUSH_ERR, batch[1].status());
    assertEquals(2, cq.poll(batch));
    assertEquals(100, batch[1].wrId());
    fails(Errno.EIO, () -> cq.poll(batch));
    fails(Errno.EIO, () -> qp.postSend(new SendWorkRequest()));
    fails(Errno.EIO, () -> qp.modify(TestDevice.toInit()));
    fails(Errno.EIO, qp::query);
    fails(Errno.EIO, device::pd);
    fails(Errno.ENODEV, device.device::open);
    fails(Errno.ENODEV, () -> device.device.port(1));
    fails(Errno.ENODEV, () -> device.device.counters(1));
    qp.destroy();
    cq.destroy();
    pd.destroy();
    device.context.close();
    assertEquals(0, device.provider.objects.get());
  }

  @Test
  void closingTheHandleGivesCompletionsUp() {
    FakeQp qp = device.qp(device.pd(), QpType.RC);
    qp.postSend(new SendWorkRequest());
    device.remove();
    qp.sendCq().destroy();
    fails(Errno.EIO, () -> qp.sendCq().poll(WorkCompletion.batch(1)));
  }

  @Test
  void whileGoingExistingObjectsWorkAndNewOnesAreRefused() {
    FakeQp qp = device.qp(device.pd(), QpType.RC);
    device.control.refuse();
    fails(Errno.ENODEV, device::pd);
    fails(Errno.ENODEV, device.device::open);
    qp.modify(TestDevice.toInit());
    qp.destroy();
    device.remove();
  }

  @Test
  void contextsReceiveTheFatalEventLast() {
    device.provider.event(1, AsyncEventType.PORT_ERR);
    device.remove();
    assertEquals(AsyncEventType.PORT_ERR, device.context.getAsyncEvent(Duration.ZERO).type());
    AsyncEvent fatal = device.context.getAsyncEvent(Duration.ZERO);
    assertEquals(AsyncEventType.DEVICE_FATAL, fatal.type());
    assertNull(fatal.element());
    fails(Errno.EIO, () -> device.context.getAsyncEvent(null));
  }

  @Test
  void aProviderThatFindsItsDeviceDeadBeforeItGoesDoesNotMakeItTwoEvents() {
    device.provider.dead();
    device.remove();
    assertEquals(AsyncEventType.DEVICE_FATAL, device.context.getAsyncEvent(Duration.ZERO).type());
    fails(Errno.EIO, () -> device.context.getAsyncEvent(null));
  }

  @Test
  void callsInsideTheProviderAreWaitedFor() throws InterruptedException {
    FakeQp qp = device.qp(device.pd(), QpType.RC);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    qp.inModify(
        () -> {
          inside.countDown();
          await(goOn);
          device.provider.log.add("modified");
        });
    Thread caller = Thread.ofPlatform().start(() -> qp.modify(TestDevice.toInit()));
    inside.await();
    device.provider.log.clear();
    Thread remover = Thread.ofPlatform().start(device::remove);
    while (!device.context.isClosed()) {
      Thread.onSpinWait();
    }
    fails(Errno.EIO, device::pd);
    goOn.countDown();
    caller.join();
    remover.join();
    assertEquals("modified", device.provider.log.getFirst());
    assertEquals("release", device.provider.log.getLast());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
