package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.WorkOpcode;
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
      int key = bad.pd.registerMemory(middle, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.MW_BIND).lkey();
      MemoryRegion fast = bad.pd.allocateMr(1);
      fast.map(List.of(middle));
      int[] names = {
        bad.pd.allocateMw(MwType.TYPE_1).rkey(), bad.pd.allocateMw(MwType.TYPE_2).rkey(), fast.rkey(), key
      };
      bad.region.destroy();
      var handle = (RxeAddressHandle) bad.pd.createAh(new AhAttributes(1, link.gid, bad.sgidIndex()));
      for (int round = 0; round < ROUNDS; round++) {
        bad.connect(target, PathMtu.MTU_1024);
        QpRings rings = ((RxeQueuePair) bad.qp).rings();
        scribble(rings.sends().ring(), random, middle, key, handle.number(), true);
        scribbleLocal(rings.sends().ring(), random, middle, names);
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
    if (!send) {
      ring.publishProducer(random.nextInt());
    }
  }

  /** Makes some of the sends binds, registrations and invalidations that are almost right. */
  private static void scribbleLocal(Ring ring, SplittableRandom random, MemorySegment region, int[] names) {
    MemorySegment memory = ring.memory();
    for (int i = 0; i <= ring.mask(); i++) {
      long slot = ring.slot(i);
      int opcode = new int[] {WorkOpcode.BIND_MW, WorkOpcode.REG_MR, WorkOpcode.LOCAL_INV, -1}[random.nextInt(4)];
      if (opcode < 0) {
        continue;
      }
      int name = names[random.nextInt(names.length)];
      memory.set(ValueLayout.JAVA_INT, slot + SendSlot.OPCODE, opcode);
      memory.set(ValueLayout.JAVA_INT, slot + SendSlot.SEND_FLAGS, 0);
      memory.set(ValueLayout.JAVA_INT, slot + SendSlot.SGE_COUNT, 0);
      memory.set(ValueLayout.JAVA_INT, slot + SendSlot.EX, name + random.nextInt(2));
      if (opcode == WorkOpcode.REG_MR) {
        memory.set(ValueLayout.JAVA_LONG, slot + SendSlot.REG_REGION, Integer.toUnsignedLong(name));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.REG_KEY, name + random.nextInt(2));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.REG_ACCESS, random.nextInt(64));
      } else if (opcode == WorkOpcode.BIND_MW) {
        memory.set(ValueLayout.JAVA_LONG, slot + SendSlot.MW_ADDRESS, region.address() + random.nextInt(-9, REGION));
        memory.set(ValueLayout.JAVA_LONG, slot + SendSlot.MW_LENGTH, random.nextLong(-2, REGION));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.MW_REGION_LKEY, names[random.nextInt(names.length)]);
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.MW_RKEY, name);
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.MW_NEW_RKEY, name + random.nextInt(2));
        memory.set(ValueLayout.JAVA_INT, slot + SendSlot.MW_ACCESS, random.nextInt(64));
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
