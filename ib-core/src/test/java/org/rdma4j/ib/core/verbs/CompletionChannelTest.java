package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.fake.FakeCq;

/** Completion events: none lost, none without cause, in order; blocking and by handler. */
@Timeout(60)
class CompletionChannelTest {
  private final TestDevice device = new TestDevice();
  private final CompletionChannel channel = device.context.createCompletionChannel();

  @AfterEach
  void close() {
    device.close();
  }

  private FakeCq cq() {
    return (FakeCq) device.context.createCq(16, channel, 0);
  }

  private static void complete(FakeCq cq, long wrId) {
    cq.complete(wrId, WcStatus.SUCCESS, WcOpcode.SEND, 17);
  }

  @Test
  void oneEventForEachArming() {
    FakeCq cq = cq();
    complete(cq, 1);
    assertNull(channel.getEvent(Duration.ZERO));
    assertTrue(cq.requestNotify(CqNotify.NEXT_COMP, true));
    complete(cq, 2);
    complete(cq, 3);
    assertSame(cq, channel.getEvent(Duration.ZERO));
    assertNull(channel.getEvent(Duration.ZERO));
  }

  @Test
  void eventsKeepTheirOrder() {
    List<FakeCq> queues = List.of(cq(), cq(), cq(), cq());
    for (FakeCq each : queues) {
      each.requestNotify(CqNotify.NEXT_COMP);
      complete(each, 1);
    }
    assertSame(queues.get(0), channel.getEvent(null));
    queues.get(0).requestNotify(CqNotify.NEXT_COMP);
    complete(queues.get(0), 2);
    assertSame(queues.get(1), channel.getEvent(null));
    assertSame(queues.get(2), channel.getEvent(null));
    assertSame(queues.get(3), channel.getEvent(null));
    assertSame(queues.get(0), channel.getEvent(null));
  }

  @Test
  void aDestroyedQueueHasNoEvents() {
    FakeCq first = cq();
    FakeCq second = cq();
    first.requestNotify(CqNotify.NEXT_COMP);
    second.requestNotify(CqNotify.NEXT_COMP);
    complete(first, 1);
    complete(second, 1);
    first.destroy();
    assertSame(second, channel.getEvent(Duration.ZERO));
  }

  @Test
  void aQueuePinsItsChannel() {
    FakeCq cq = cq();
    VerbsException e = assertThrows(VerbsException.class, channel::destroy);
    assertEquals(Errno.EBUSY, e.errno());
    assertTrue(e.getMessage().contains("CQ 0"), e.getMessage());
    cq.destroy();
    channel.destroy();
    assertEquals(
        Errno.EINVAL, assertThrows(VerbsException.class, () -> channel.getEvent(Duration.ZERO)).errno());
  }

  /** Arm, poll again, sleep: the pattern of every consumer, against a producer that never waits. */
  @Test
  void noWakeUpIsLost() throws InterruptedException {
    int queueCount = 4;
    int each = 50_000;
    List<FakeCq> queues = new ArrayList<>();
    for (int i = 0; i < queueCount; i++) {
      queues.add(cq());
      queues.getLast().requestNotify(CqNotify.NEXT_COMP);
    }
    List<Thread> producers = new ArrayList<>();
    for (FakeCq cq : queues) {
      producers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < each; i++) {
                      complete(cq, i);
                    }
                  }));
    }
    int left = queueCount * each;
    WorkCompletion[] batch = WorkCompletion.batch(64);
    while (left > 0) {
      CompletionQueue cq = channel.getEvent(null);
      cq.requestNotify(CqNotify.NEXT_COMP);
      int polled = cq.poll(batch);
      while (polled > 0) {
        left -= polled;
        polled = cq.poll(batch);
      }
    }
    for (Thread producer : producers) {
      producer.join();
    }
    assertEquals(0, left);
  }

  @Test
  void handlersRunElsewhereAndMayFail() throws InterruptedException {
    FakeCq cq = cq();
    AtomicInteger calls = new AtomicInteger();
    AtomicReference<Thread> ran = new AtomicReference<>();
    CountDownLatch twice = new CountDownLatch(2);
    channel.setHandler(
        queue -> {
          ran.set(Thread.currentThread());
          queue.requestNotify(CqNotify.NEXT_COMP);
          calls.incrementAndGet();
          twice.countDown();
          complete((FakeCq) queue, 2 - twice.getCount());
          throw new IllegalArgumentException("expected by the test");
        });
    assertEquals(Errno.EBUSY, assertThrows(VerbsException.class, () -> channel.getEvent(null)).errno());
    cq.requestNotify(CqNotify.NEXT_COMP);
    complete(cq, 0);
    twice.await();
    assertFalse(ran.get() == Thread.currentThread());
    channel.setHandler(null);
    int seen = calls.get();
    assertFalse(ran.get().isAlive());
    assertTrue(seen >= 2);
  }

  @Test
  void whoWaitsLeavesWhenAHandlerTakesOver() throws InterruptedException {
    AtomicReference<Errno> result = new AtomicReference<>();
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> result.set(assertThrows(VerbsException.class, () -> channel.getEvent(null)).errno()));
    awaitParked(waiter);
    channel.setHandler(queue -> {});
    waiter.join();
    assertEquals(Errno.EBUSY, result.get());
    channel.setHandler(null);
  }

  @Test
  void removalHandsOutWhatIsThereThenFails() throws InterruptedException {
    FakeCq cq = cq();
    cq.requestNotify(CqNotify.NEXT_COMP);
    complete(cq, 1);
    AtomicReference<Errno> result = new AtomicReference<>();
    CompletionChannel other = device.context.createCompletionChannel();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> result.set(assertThrows(VerbsException.class, () -> other.getEvent(null)).errno()));
    awaitParked(waiter);
    device.remove();
    waiter.join();
    assertEquals(Errno.EIO, result.get());
    assertSame(cq, channel.getEvent(null));
    assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> channel.getEvent(null)).errno());
  }

  @Test
  void anInterruptEndsTheWait() throws InterruptedException {
    AtomicReference<Errno> result = new AtomicReference<>();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> result.set(assertThrows(VerbsException.class, () -> channel.getEvent(null)).errno()));
    awaitParked(waiter);
    waiter.interrupt();
    waiter.join();
    assertEquals(Errno.ECANCELED, result.get());
  }

  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }
}
