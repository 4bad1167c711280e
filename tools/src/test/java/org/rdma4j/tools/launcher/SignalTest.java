package org.rdma4j.tools.launcher;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SignalTest {
  private final Signal signal = new Signal();

  @Test
  void whatHoldsIsNotWaitedFor() throws InterruptedException {
    assertTrue(signal.await(() -> true, System.nanoTime() - 1));
  }

  @Test
  void theWaitIsBounded() throws InterruptedException {
    assertFalse(signal.await(() -> false, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10)));
  }

  @Test
  void anEventMakesTheWaiterLookAgain() throws InterruptedException {
    var holds = new AtomicBoolean();
    var looked = new CountDownLatch(1);
    var raiser =
        Thread.startVirtualThread(
            () -> {
              try {
                looked.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              holds.set(true);
              signal.raise();
            });
    assertTrue(
        signal.await(
            () -> {
              boolean now = holds.get();
              looked.countDown();
              return now;
            },
            System.nanoTime() + TimeUnit.SECONDS.toNanos(30)));
    raiser.join();
  }
}
