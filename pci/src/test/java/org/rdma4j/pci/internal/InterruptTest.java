package org.rdma4j.pci.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciRegisters;

/** Messages of a card, from its vector to the driver's handler. */
@Timeout(60)
class InterruptTest {
  private final Bus bus = new Bus();
  private final TestCard card = new TestCard();
  private final TestDriver driver = new TestDriver("test");
  private final Semaphore handled = new Semaphore(0);
  private PciDevice device;
  private Bar bar;

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(card, null);
    device = driver.device;
    device.enable();
    device.setMaster(true);
    bar = device.bar(0);
  }

  @AfterEach
  void close() {
    for (int i = 0; i < TestCard.VECTORS; i++) {
      device.freeIrq(i);
    }
    device.freeVectors();
    bus.close();
  }

  @Test
  void aMessageRunsTheHandler() throws Exception {
    assertEquals(TestCard.VECTORS, device.allocateVectors(1, 100));
    device.requestIrq(3, "three", vector -> handled.release(vector));
    card.host.raise(3);
    handled.acquire(3);
    assertEquals("three", bus.interrupts().getFirst().name());
    assertEquals(3, bus.interrupts().getFirst().vector());
    assertEquals(1, bus.interrupts().getFirst().count());
  }

  @Test
  void theWantedProcessorRunsTheHandler() throws Exception {
    device.allocateVectors(1, 4);
    int processors = Math.min(8, Runtime.getRuntime().availableProcessors());
    String[] thread = new String[1];
    device.requestIrq(
        2,
        processors + 1,
        "two",
        vector -> {
          thread[0] = Thread.currentThread().getName();
          handled.release();
        });
    card.host.raise(2);
    handled.acquire();
    assertEquals(1 % processors, device.processor(2));
    assertEquals("pci-irq/" + 1 % processors, thread[0]);
    assertThrows(PciException.class, () -> device.processor(1));
    assertThrows(PciException.class, () -> device.requestIrq(1, -1, "one", vector -> {}));
  }

  @Test
  void aMaskedVectorStaysPending() throws Exception {
    device.allocateVectors(1, 4);
    device.requestIrq(1, "one", vector -> handled.release());
    long control = TestCard.TABLE + PciRegisters.MSIX_ENTRY + 12;
    bar.write(control, PciRegisters.MSIX_MASKED);
    card.host.raise(1);
    assertEquals(2, bar.read(TestCard.PENDING));
    assertEquals(0, handled.availablePermits());
    bar.write(control, 0);
    handled.acquire();
    assertEquals(0, bar.read(TestCard.PENDING));
    int msix = device.findCapability(PciRegisters.CAP_MSIX) + PciRegisters.MSIX_CONTROL;
    device.writeConfig(msix, 2, PciRegisters.MSIX_ENABLE | PciRegisters.MSIX_MASK_ALL);
    card.host.raise(1);
    card.host.raise(1);
    assertEquals(2, bar.read(TestCard.PENDING));
    device.writeConfig(msix, 2, PciRegisters.MSIX_ENABLE);
    handled.acquire();
    assertTrue(card.registers.isEmpty(), "the card does not see its table");
  }

  @Test
  void messagesThatArriveWhileTheHandlerRunsAreNotLost() throws Exception {
    device.allocateVectors(1, 1);
    var inside = new CyclicBarrier(2);
    device.requestIrq(
        0,
        "zero",
        vector -> {
          meet(inside);
          meet(inside);
          handled.release();
        });
    card.host.raise(0);
    meet(inside);
    card.host.raise(0);
    card.host.raise(0);
    meet(inside);
    meet(inside);
    meet(inside);
    handled.acquire(2);
    assertEquals(2, bus.interrupts().getFirst().count(), "two that came together are one");
  }

  @Test
  void nothingIsLostUnderLoad() throws Exception {
    device.allocateVectors(1, 2);
    AtomicInteger posted = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    var done = new CountDownLatch(1);
    int total = 200_000;
    device.requestIrq(
        0,
        "load",
        vector -> {
          seen.set(posted.get());
          if (seen.get() == total) {
            done.countDown();
          }
        });
    for (int i = 0; i < total; i++) {
      posted.incrementAndGet();
      card.host.raise(0);
    }
    assertTrue(done.await(30, TimeUnit.SECONDS), () -> "the handler saw " + seen + " of " + total);
  }

  @Test
  void freeingWaitsForTheHandler() throws Exception {
    device.allocateVectors(1, 1);
    var inside = new CyclicBarrier(2);
    var over = new AtomicInteger();
    device.requestIrq(
        0,
        "zero",
        vector -> {
          meet(inside);
          meet(inside);
          over.set(1);
        });
    card.host.raise(0);
    meet(inside);
    var seenOver = new AtomicInteger(-1);
    Thread freeing =
        Thread.ofPlatform()
            .start(
                () -> {
                  device.freeIrq(0);
                  seenOver.set(over.get());
                });
    while (freeing.getState() != Thread.State.WAITING) {
      assertTrue(freeing.isAlive());
      Thread.onSpinWait();
    }
    meet(inside);
    freeing.join();
    assertEquals(1, seenOver.get());
    card.host.raise(0);
    assertEquals(java.util.List.of(), bus.interrupts());
  }

  @Test
  void aHandlerThatThrowsRunsAgain() throws Exception {
    device.allocateVectors(1, 1);
    device.requestIrq(
        0,
        "zero",
        vector -> {
          handled.release();
          throw new IllegalStateException("on purpose");
        });
    card.host.raise(0);
    handled.acquire();
    card.host.raise(0);
    handled.acquire();
  }

  @Test
  void aHandlerCannotFreeItself() throws Exception {
    device.allocateVectors(1, 1);
    var refused = new AtomicInteger();
    device.requestIrq(
        0,
        "zero",
        vector -> {
          refused.set(assertThrows(PciException.class, () -> device.freeIrq(0)).errno().number());
          handled.release();
        });
    card.host.raise(0);
    handled.acquire();
    assertEquals(PciErrno.EDEADLK.number(), refused.get());
    assertEquals(1, bus.interrupts().size());
  }

  @Test
  void withoutBusMasteringThereAreNoMessages() throws Exception {
    device.allocateVectors(1, 1);
    device.requestIrq(0, "zero", vector -> handled.release());
    device.setMaster(false);
    card.host.raise(0);
    device.setMaster(true);
    card.host.raise(0);
    handled.acquire();
    assertEquals(1, bus.interrupts().getFirst().count());
  }

  @Test
  void wrongUseIsRefused() {
    assertErrno(PciErrno.EINVAL, () -> device.allocateVectors(0, 1));
    assertErrno(PciErrno.ENOSPC, () -> device.allocateVectors(TestCard.VECTORS + 1, TestCard.VECTORS + 1));
    assertErrno(PciErrno.EINVAL, () -> device.requestIrq(0, "none", vector -> {}));
    device.allocateVectors(1, 1);
    assertErrno(PciErrno.EBUSY, () -> device.allocateVectors(1, 1));
    device.requestIrq(0, "zero", vector -> {});
    assertErrno(PciErrno.EBUSY, () -> device.requestIrq(0, "again", vector -> {}));
    assertErrno(PciErrno.EINVAL, () -> device.requestIrq(1, "one", vector -> {}));
    assertErrno(PciErrno.EBUSY, device::freeVectors);
    assertErrno(PciErrno.EINVAL, () -> card.host.raise(TestCard.VECTORS));
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void assertErrno(PciErrno expected, Executable call) {
    assertEquals(expected, assertThrows(PciException.class, call).errno());
  }
}
