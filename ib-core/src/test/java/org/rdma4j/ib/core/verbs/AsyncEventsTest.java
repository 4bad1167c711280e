package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.fake.FakeCq;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.ib.core.fake.FakeSrq;
import org.rdma4j.roce.address.Gid;

/** Asynchronous events: each once, to the contexts concerned, in order. */
@Timeout(60)
class AsyncEventsTest {
  private final TestDevice device = new TestDevice();
  private final Context other = device.device.open("other");

  @AfterEach
  void close() {
    device.close();
  }

  private static AsyncEvent next(Context context) {
    return context.getAsyncEvent(Duration.ZERO);
  }

  @Test
  void portEventsReachEveryContextOnce() {
    device.provider.event(1, AsyncEventType.PORT_ERR);
    for (Context each : List.of(device.context, other)) {
      AsyncEvent event = next(each);
      assertEquals(AsyncEventType.PORT_ERR, event.type());
      assertEquals(1, event.port());
      assertEquals("fake0", event.deviceName());
      assertNull(next(each));
    }
  }

  @Test
  void objectEventsReachTheirOwnerOnly() {
    ProtectionDomain pd = device.pd();
    FakeQp qp = device.qp(pd, QpType.RC);
    FakeSrq srq = (FakeSrq) pd.createSrq(new SrqInitAttributes(4, 1));
    qp.report(AsyncEventType.QP_ACCESS_ERR);
    ((FakeCq) qp.sendCq()).overflow();
    srq.belowLimit();
    assertSame(qp, next(device.context).element());
    assertSame(qp.sendCq(), next(device.context).element());
    assertSame(srq, next(device.context).element());
    assertNull(next(device.context));
    assertNull(next(other));
  }

  @Test
  void aHandlerGetsWhatWaitedAndWhatComesInOrder() throws InterruptedException {
    device.provider.event(1, AsyncEventType.PORT_ERR);
    device.provider.event(1, AsyncEventType.PORT_ACTIVE);
    List<AsyncEventType> seen = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(3);
    other.addAsyncEventHandler(
        event -> {
          seen.add(event.type());
          done.countDown();
        });
    device.provider.event(1, AsyncEventType.LID_CHANGE);
    done.await();
    assertNull(next(other));
    assertEquals(List.of(AsyncEventType.PORT_ERR, AsyncEventType.PORT_ACTIVE, AsyncEventType.LID_CHANGE), seen);
  }

  @Test
  void aHandlerThatFailsStopsNoOther() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(2);
    Consumer<AsyncEvent> bad =
        event -> {
          throw new IllegalArgumentException("expected by the test");
        };
    other.addAsyncEventHandler(bad);
    other.addAsyncEventHandler(event -> done.countDown());
    device.provider.event(1, AsyncEventType.SM_CHANGE);
    device.provider.event(1, AsyncEventType.CLIENT_REREGISTER);
    done.await();
  }

  @Test
  void gidChangesAreEvents() {
    device.control.addGid(1, Gid.parse("2001:db8::9"), GidType.ROCE_V2, "eth0", false);
    assertEquals(AsyncEventType.GID_CHANGE, next(other).type());
  }

  @Test
  void aClosedContextIsLeftAlone() {
    other.close();
    device.provider.event(1, AsyncEventType.PORT_ERR);
    VerbsException e = assertThrows(VerbsException.class, () -> next(other));
    assertEquals(Errno.EIO, e.errno());
  }
}
