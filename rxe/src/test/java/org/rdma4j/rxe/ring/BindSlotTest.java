package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.engine.WorkOpcode;

/** A bind lies in its slot as {@code rdma_user_rxe.h} has it. */
class BindSlotTest {
  @Test
  void everyFieldIsWhereTheKernelHasIt() {
    WorkRing ring = new WorkRing(4, (int) SendSlot.DATA);
    SendSlotWriter writer = new SendSlotWriter(ring);
    long slot = ring.nextSlot();
    writer.begin(slot, 7, WorkOpcode.BIND_MW, 2);
    writer.bind(0x8000_0110, 0x8000_0111, 0x155, 0x1122_3344_5566L, 4096, 6);
    MemorySegment memory = ring.memory();
    assertEquals(7, memory.get(JAVA_LONG, slot));
    assertEquals(8, memory.get(JAVA_INT, slot + 0x0c));
    assertEquals(2, memory.get(JAVA_INT, slot + 0x10));
    assertEquals(0x1122_3344_5566L, memory.get(JAVA_LONG, slot + 0x18));
    assertEquals(4096, memory.get(JAVA_LONG, slot + 0x20));
    assertEquals(0x155, memory.get(JAVA_INT, slot + 0x28));
    assertEquals(0x8000_0110, memory.get(JAVA_INT, slot + 0x2c));
    assertEquals(0x8000_0111, memory.get(JAVA_INT, slot + 0x30));
    assertEquals(6, memory.get(JAVA_INT, slot + 0x34));
  }
}
