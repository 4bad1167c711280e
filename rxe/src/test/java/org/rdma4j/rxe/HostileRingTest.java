package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.rxe.ring.ReceiveSlot;
import org.rdma4j.rxe.ring.Ring;
import org.rdma4j.rxe.ring.SendSlot;

/**
 * Rings are memory that somebody hostile may write: the engine goes on, and touches nothing that is not registered.
 */
class HostileRingTest {
  private static final int ROUNDS = 150;
  private static final int REGION = 4096;
  private static final byte GUARD = 0x5a;

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"RC", "UC", "UD"})
  void whateverTheRingsHoldTheEngineGoesOn(QpType type) {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    try (TestLink link = TestLink.open("rxe0");
        End good = new End(link, QpType.RC, 1000);
        End peer = new End(link, QpType.RC, 1000);
        End bad = new End(link, type, 3 * REGION);
        End target = new End(link, type, REGION)) {
      good.connect(peer, PathMtu.MTU_1024);
      peer.connect(good, PathMtu.MTU_1024);
      target.connect(bad, PathMtu.MTU_1024);
      bad.memory.fill(GUARD);
      MemorySegment middle = bad.memory.asSlice(REGION, REGION);
      int key = bad.pd.registerMemory(middle, Access.LOCAL_WRITE, Access.REMOTE_WRITE).lkey();
      bad.region.destroy();
      var handle = (RxeAddressHandle) bad.pd.createAh(new AhAttributes(1, link.gid, bad.sgidIndex()));
      for (int round = 0; round < ROUNDS; round++) {
        bad.connect(target, PathMtu.MTU_1024);
        QpRings rings = ((RxeQueuePair) bad.qp).rings();
        scribble(rings.sends().ring(), random, middle, key, handle.number(), true);
        scribble(rings.receives().ring().ring(), random, middle, key, handle.number(), false);
        ((RxeQueuePair) bad.qp).transport().ring();
        exchange(good, peer);
        bad.cq.poll(WorkCompletion.batch(256));
        bad.qp.modify(new QpAttributes().state(QpState.RESET));
        bad.cq.poll(WorkCompletion.batch(256));
      }
      String hint = "seed " + seed;
      assertEquals(0, link.device.engine().counters().get(EngineCounter.FAULTS), hint);
      assertGuarded(bad.memory, 0, hint);
      assertGuarded(bad.memory, 2 * REGION, hint);
    }
  }

  /** Fields that are almost right, so that not everything is refused at the first look. */
  private static void scribble(
      Ring ring, SplittableRandom random, MemorySegment region, int key, int handle, boolean send) {
    MemorySegment memory = ring.memory();
    for (int i = 0; i <= ring.mask(); i++) {
      long slot = ring.slot(i);
      for (long at = 0; at < ring.slotBytes(); at += Integer.BYTES) {
        memory.set(ValueLayout.JAVA_INT, slot + at, random.nextInt());
      }
      if (send) {
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.OPCODE, random.nextInt(-1, 0x24));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.SEND_FLAGS, random.nextInt(32));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.LENGTH, random.nextInt(-2, 200));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.AH_NUMBER, random.nextBoolean() ? handle : random.nextInt());
      }
      long count = slot + (send ? SendSlot.SGE_COUNT : ReceiveSlot.SGE_COUNT);
      memory.set(ValueLayout.JAVA_INT, count, random.nextInt(-1, 7));
      long list = slot + (send ? SendSlot.DATA : ReceiveSlot.DATA);
      for (int sge = 0; sge < 4; sge++) {
        long at = list + 16L * sge;
        long address = region.address() + random.nextLong(-2L * REGION, 2L * REGION);
        memory.set(ValueLayout.JAVA_LONG, at, random.nextInt(8) == 0 ? random.nextLong() : address);
        int length = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(2 * REGION);
        memory.set(ValueLayout.JAVA_INT, at + 8, length);
        memory.set(ValueLayout.JAVA_INT, at + 12, random.nextInt(8) == 0 ? random.nextInt() : key);
      }
    }
    ring.publishProducer(random.nextInt());
  }

  private static void exchange(End from, End to) {
    to.qp.postReceive(new ReceiveWorkRequest().addSge(to.region.address(), 100, to.region.lkey()));
    from.qp.postSend(
        new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(from.region.address(), 100, from.region.lkey()));
    from.nextSuccess();
    to.nextSuccess();
  }

  private static void assertGuarded(MemorySegment memory, long offset, String hint) {
    for (long i = offset; i < offset + REGION; i++) {
      assertEquals(GUARD, memory.get(ValueLayout.JAVA_BYTE, i), "byte " + i + " outside the region, " + hint);
    }
  }
}
