package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.device.internal.TestUser.Wr;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** A processor that waits for the card does the card's work, and nothing depends on it. */
class RelaxTest {
  private static final int SEND = 0x0a;
  private static final int ERRORS = 13;
  private static final int BYTES = 64;
  private static final Gid ADDRESS = Gid.parse("::ffff:192.0.2.1");
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Card card = TestCards.card("relax", new Fabric(1, Clock.SYSTEM));

  /** Waits until the card lets this thread run its duty cycles. */
  private void waitForTheEngine(TestSide side) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    for (long before = card.helped(); card.helped() == before; ) {
      side.driver.device.relax();
      assertTrue(System.nanoTime() < deadline, "the card never let this thread help");
    }
  }

  private static Qp connected(TestSide side) {
    Qp qp = side.user.new Qp(TestUser.RC, side.queue, side.queue, 0, 0, false);
    qp.init();
    qp.ready(qp.number, 1, ADDRESS);
    return qp;
  }

  private static void exchange(TestSide side, Qp qp, boolean relaxing) {
    qp.receive(side.memory.address() + BYTES, BYTES, side.key);
    qp.post(new Wr(SEND).data(side.memory.address(), BYTES, side.key));
    for (int i = 0; i < 2; i++) {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      MemorySegment entry = side.queue.poll();
      while (entry == null) {
        if (relaxing) {
          side.driver.device.relax();
        }
        assertTrue(System.nanoTime() < deadline, "no completion");
        entry = side.queue.poll();
      }
      assertTrue(TestUser.opcode(entry) < ERRORS);
    }
  }

  @Test
  void whoWaitsRunsTheDutyCycles() {
    try (TestSide side = new TestSide(card, ADDRESS)) {
      Qp qp = connected(side);
      waitForTheEngine(side);
      long before = card.helped();
      for (int i = 0; i < 100; i++) {
        exchange(side, qp, true);
      }
      assertTrue(card.helped() > before);
    }
  }

  @Test
  void whoGoesAwayLeavesTheWorkToTheCard() {
    try (TestSide side = new TestSide(card, ADDRESS)) {
      Qp qp = connected(side);
      for (int i = 0; i < 20; i++) {
        waitForTheEngine(side);
        exchange(side, qp, false);
      }
    }
  }

  /** The doorbell of who goes to sleep: the engine's thread has its engine back, without waiting. */
  @Test
  void whoArmsAQueueCallsTheCardBack() {
    try (TestSide side = new TestSide(card, ADDRESS)) {
      Qp qp = connected(side);
      for (int i = 0; i < 20; i++) {
        waitForTheEngine(side);
        long before = card.helped();
        side.queue.arm(false);
        side.driver.device.relax();
        assertEquals(before, card.helped(), "it is not lent any more");
        exchange(side, qp, false);
      }
    }
  }

  @Test
  void aCardWithoutPowerDoesNothing() {
    try (TestSide side = new TestSide(card, ADDRESS)) {
      waitForTheEngine(side);
    }
    long before = card.helped();
    assertFalse(card.relax());
    assertEquals(before, card.helped());
  }
}
