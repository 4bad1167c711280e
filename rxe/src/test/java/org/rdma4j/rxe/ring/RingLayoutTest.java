package org.rdma4j.rxe.ring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;

/** The numbers of {@code rdma_user_rxe.h} and {@code ib_user_verbs.h}, compiled on x86-64. */
class RingLayoutTest {
  @Test
  void headerIsRxeQueueBuf() {
    Ring ring = new Ring(5, 40);
    assertEquals(0, Ring.LOG2_ELEMENT_SIZE);
    assertEquals(4, Ring.INDEX_MASK);
    assertEquals(0x80, Ring.PRODUCER_INDEX);
    assertEquals(0x100, Ring.CONSUMER_INDEX);
    assertEquals(0x180, Ring.DATA);
    assertEquals(6, ring.memory().get(ValueLayout.JAVA_INT, 0), "an element is at least a cache line");
    assertEquals(7, ring.memory().get(ValueLayout.JAVA_INT, 4));
    assertEquals(7, ring.capacity());
    assertEquals(0x180 + 8 * 64, ring.memory().byteSize());
    assertEquals(0x180 + 64, ring.slot(1));
    assertEquals(0x180 + 64, ring.slot(9));
  }

  @Test
  void slotsArePowersOfTwo() {
    assertArrayEquals(
        new int[] {1, 1, 2, 4, 4, 8, 1 << 20, 1 << 21},
        IntStream.of(0, 1, 2, 3, 4, 5, 1 << 20, (1 << 20) + 1).map(Ring::powerOfTwo).toArray());
    assertEquals(1, new Ring(1, 1).capacity());
    assertEquals(3, new Ring(2, 1).capacity());
    assertEquals(3, new Ring(3, 1).capacity());
    assertEquals(7, new Ring(4, 1).capacity());
    assertEquals(128, new CompletionRing(3).ring().slotBytes());
    assertEquals(1024, new WorkRing(1, (int) SendSlot.DATA + 512).ring().slotBytes());
  }

  @Test
  void sendSlotIsRxeSendWqe() {
    assertArrayEquals(
        new long[] {0, 0xc, 0x10, 0x14, 0x90, 0x94, 0x98, 0xb8, 0xbc, 0xc0, 0xc4, 0xc8, 0xd0},
        new long[] {
          SendSlot.WR_ID,
          SendSlot.OPCODE,
          SendSlot.SEND_FLAGS,
          SendSlot.EX,
          SendSlot.STATUS,
          SendSlot.STATE,
          SendSlot.IOVA,
          SendSlot.LENGTH,
          SendSlot.RESID,
          SendSlot.CURRENT_SGE,
          SendSlot.SGE_COUNT,
          SendSlot.SGE_OFFSET,
          SendSlot.DATA
        });
  }

  @Test
  void flushesAndAtomicWritesAreWrittenWhereTheyBelong() {
    WorkRing ring = new WorkRing(1, (int) SendSlot.DATA + 64);
    SendSlotWriter writer = new SendSlotWriter(ring);
    MemorySegment memory = ring.memory();
    long slot = ring.nextSlot();
    writer.begin(slot, 1, 15, 0);
    writer.atomicWrite(0x1111_2222_3333_4440L, 0x5555_6666, 0x0102_0304_0506_0708L);
    assertEquals(15, memory.get(ValueLayout.JAVA_INT, slot + 0xc));
    assertEquals(0x1111_2222_3333_4440L, memory.get(ValueLayout.JAVA_LONG, slot + 0x18));
    assertEquals(0x5555_6666, memory.get(ValueLayout.JAVA_INT, slot + 0x20));
    assertEquals(8, memory.get(ValueLayout.JAVA_INT, slot + 0xb8));
    assertEquals(0x0102_0304_0506_0708L, memory.get(ValueLayout.JAVA_LONG, slot + 0xd0));
    writer.begin(slot, 2, 14, 0);
    writer.flush(0x1111_2222_3333_4444L, 1L << 31, 0x7777_8888, 3, 1);
    assertEquals(0x1111_2222_3333_4444L, memory.get(ValueLayout.JAVA_LONG, slot + 0x18));
    assertEquals(1 << 31, memory.get(ValueLayout.JAVA_INT, slot + 0x20));
    assertEquals(0x7777_8888, memory.get(ValueLayout.JAVA_INT, slot + 0x24));
    assertEquals(3, memory.get(ValueLayout.JAVA_BYTE, slot + 0x28));
    assertEquals(1, memory.get(ValueLayout.JAVA_BYTE, slot + 0x29));
    assertEquals(1 << 31, memory.get(ValueLayout.JAVA_INT, slot + 0xb8));
    assertEquals(0, memory.get(ValueLayout.JAVA_INT, slot + 0xc4));
  }

  @Test
  void sendsAreWrittenWhereTheyBelong() {
    WorkRing ring = new WorkRing(1, (int) SendSlot.DATA + 64);
    SendSlotWriter writer = new SendSlotWriter(ring);
    MemorySegment memory = ring.memory();
    long slot = ring.nextSlot();
    assertEquals(0x180, slot);
    writer.begin(slot, 0x0102_0304_0506_0708L, 1, SendFlag.SIGNALED);
    writer.rdma(0x1111_2222_3333_4444L, 0x5555_6666);
    writer.immediate(0x0a0b_0c0d);
    writer.sge(0, 0x7777L, 100, 9);
    writer.sge(1, 0x8888L, 28, 10);
    assertEquals(0x0102_0304_0506_0708L, memory.get(ValueLayout.JAVA_LONG, slot));
    assertEquals(1, memory.get(ValueLayout.JAVA_INT, slot + 0xc));
    assertEquals(SendFlag.SIGNALED, memory.get(ValueLayout.JAVA_INT, slot + 0x10));
    assertArrayEquals(
        new byte[] {0xa, 0xb, 0xc, 0xd}, memory.asSlice(slot + 0x14, 4).toArray(ValueLayout.JAVA_BYTE));
    assertEquals(0x1111_2222_3333_4444L, memory.get(ValueLayout.JAVA_LONG, slot + 0x18));
    assertEquals(0x5555_6666, memory.get(ValueLayout.JAVA_INT, slot + 0x20));
    assertEquals(0x1111_2222_3333_4444L, memory.get(ValueLayout.JAVA_LONG, slot + 0x98));
    assertEquals(128, memory.get(ValueLayout.JAVA_INT, slot + 0xb8));
    assertEquals(128, memory.get(ValueLayout.JAVA_INT, slot + 0xbc));
    assertEquals(2, memory.get(ValueLayout.JAVA_INT, slot + 0xc4));
    assertEquals(0x8888L, memory.get(ValueLayout.JAVA_LONG, slot + 0xd0 + 16));
    assertEquals(28, memory.get(ValueLayout.JAVA_INT, slot + 0xd0 + 16 + 8));
    assertEquals(10, memory.get(ValueLayout.JAVA_INT, slot + 0xd0 + 16 + 12));
  }

  @Test
  void atomicsAndDatagramsShareTheUnion() {
    WorkRing ring = new WorkRing(1, (int) SendSlot.DATA + 64);
    SendSlotWriter writer = new SendSlotWriter(ring);
    MemorySegment memory = ring.memory();
    long slot = ring.nextSlot();
    writer.begin(slot, 1, 5, 0);
    writer.atomic(0x1000, 7, 2, 3);
    assertEquals(0x1000, memory.get(ValueLayout.JAVA_LONG, slot + 0x18));
    assertEquals(2, memory.get(ValueLayout.JAVA_LONG, slot + 0x20));
    assertEquals(3, memory.get(ValueLayout.JAVA_LONG, slot + 0x28));
    assertEquals(7, memory.get(ValueLayout.JAVA_INT, slot + 0x30));
    writer.begin(slot, 1, 2, 0);
    writer.datagram(4, 0x11, 0x1234_5678, 6);
    assertEquals(0x11, memory.get(ValueLayout.JAVA_INT, slot + 0x18));
    assertEquals(0x1234_5678, memory.get(ValueLayout.JAVA_INT, slot + 0x1c));
    assertEquals(6, memory.get(ValueLayout.JAVA_SHORT, slot + 0x20));
    assertEquals(4, memory.get(ValueLayout.JAVA_INT, slot + 0x24));
    assertEquals(SendSlot.STATUS, SendSlot.UD_AV + 88);
  }

  @Test
  void receiveSlotIsRxeRecvWqe() {
    ReceiveRing receives = new ReceiveRing(1, 2);
    MemorySegment memory = receives.ring().memory();
    long slot = receives.ring().nextSlot();
    receives.write(slot, new ReceiveWorkRequest().wrId(5).addSge(0x10, 20, 30).addSge(0x11, 21, 31));
    assertEquals(5, memory.get(ValueLayout.JAVA_LONG, slot));
    assertEquals(41, memory.get(ValueLayout.JAVA_INT, slot + 0x10));
    assertEquals(41, memory.get(ValueLayout.JAVA_INT, slot + 0x14));
    assertEquals(2, memory.get(ValueLayout.JAVA_INT, slot + 0x1c));
    assertEquals(0x11, memory.get(ValueLayout.JAVA_LONG, slot + 0x28 + 16));
    assertEquals(31, memory.get(ValueLayout.JAVA_INT, slot + 0x28 + 28));
  }

  @Test
  void completionSlotIsIbUverbsWc() {
    assertArrayEquals(
        new long[] {0, 8, 0xc, 0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0x2e},
        new long[] {
          CompletionSlot.WR_ID,
          CompletionSlot.STATUS,
          CompletionSlot.OPCODE,
          CompletionSlot.VENDOR_ERROR,
          CompletionSlot.BYTE_LENGTH,
          CompletionSlot.EX,
          CompletionSlot.QP_NUMBER,
          CompletionSlot.SOURCE_QP,
          CompletionSlot.FLAGS,
          CompletionSlot.PKEY_INDEX,
          CompletionSlot.PORT_NUMBER
        });
  }

  @Test
  void indicesAreMaskedWhateverTheMemoryHolds() {
    Ring ring = new Ring(3, 64);
    ring.publishProducer(0xffff_fffe);
    assertEquals(2, ring.producer());
    ring.releaseConsumer(0x7fff_fff9);
    assertEquals(1, ring.consumer());
  }
}
