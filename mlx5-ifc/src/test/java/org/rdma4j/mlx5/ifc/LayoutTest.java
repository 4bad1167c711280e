package org.rdma4j.mlx5.ifc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LayoutTest {
  private final MemorySegment memory = Arena.ofAuto().allocate(512);

  @Test
  void bitsLieInTheirBigEndianDword() {
    Field state = Layouts.QPC.field("state");
    state.set(memory, 16, 0xa);
    assertEquals((byte) 0xa0, memory.get(ValueLayout.JAVA_BYTE, 16));
    Layouts.QPC.field("pd").set(memory, 16, 0x123456);
    assertEquals((byte) 0x12, memory.get(ValueLayout.JAVA_BYTE, 16 + 5));
    assertEquals((byte) 0x56, memory.get(ValueLayout.JAVA_BYTE, 16 + 7));
    assertEquals(0xa, state.get(memory, 16));
    assertEquals(0x123456, Layouts.QPC.field("pd").get(memory, 16));
    state.set(memory, 16, 0);
    assertEquals(0, state.get(memory, 16));
  }

  @Test
  void otherBitsOfTheDwordStay() {
    Field low = Layouts.CQC.field("uar_page");
    Field high = Layouts.CQC.field("log_cq_size");
    low.set(memory, 0, 0xffffff);
    high.set(memory, 0, 0x1f);
    low.set(memory, 0, 0x000001);
    assertEquals(0x1f, high.get(memory, 0));
    assertEquals(1, low.get(memory, 0));
  }

  @Test
  void wholeDwordsAndQuadsAreNumbers() {
    Field qkey = Layouts.QPC.field("q_key");
    qkey.set(memory, 0, 0x8001_0000);
    assertEquals(0x8001_0000, qkey.get(memory, 0));
    Field address = Layouts.QPC.field("dbr_addr");
    address.setLong(memory, 0, 0x0102_0304_0506_0708L);
    assertEquals((byte) 1, memory.get(ValueLayout.JAVA_BYTE, address.offset()));
    assertEquals(0x0102_0304_0506_0708L, address.getLong(memory, 0));
  }

  @Test
  void tooLargeValuesAreRefused() {
    Field state = Layouts.QPC.field("state");
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> state.set(memory, 0, 16)).getMessage().contains("state"));
    assertThrows(IllegalArgumentException.class, () -> state.set(memory, 0, -1));
    assertThrows(IllegalArgumentException.class, () -> Layouts.QPC.field("stat"));
    assertThrows(IllegalArgumentException.class, () -> Layouts.of("nothing"));
  }

  @Test
  void ownershipIsTheLastBitOfItsEntry() {
    memory.set(ValueLayout.JAVA_BYTE, 0x3f, (byte) 0xd1);
    assertEquals(1, Layouts.CQE.field("owner").get(memory, 0));
    assertEquals(0xd, Layouts.CQE.field("opcode").get(memory, 0));
    assertEquals(1, Layouts.EQE.field("owner").get(memory, 0));
    assertEquals(1, Layouts.CMD_QUEUE_ENTRY.field("ownership").get(memory, 0));
  }

  @Test
  void fieldsLieInTheirStructureAndDoNotOverlap() {
    Stream<Layout> structures =
        Stream.of(
            Layouts.QPC, Layouts.CQC, Layouts.EQC, Layouts.MKC, Layouts.WQ, Layouts.RMPC, Layouts.XRC_SRQC,
            Layouts.ADS, Layouts.ROCE_ADDR, Layouts.HCA_CAP, Layouts.ROCE_CAP, Layouts.ATOMIC_CAP);
    structures.forEach(LayoutTest::check);
    for (Opcode opcode : Opcode.values()) {
      if (Command.isKnown(opcode)) {
        Command.of(opcode).input().fields().forEach(field -> assertNotNull(field.name()));
      }
    }
  }

  private static void check(Layout layout) {
    byte[] taken = new byte[(int) layout.size() * Byte.SIZE];
    for (Field field : layout.fields()) {
      if (field.length() == 0) {
        continue;
      }
      assertTrue(field.offset() + field.length() <= layout.size(), layout + " " + field);
      int first = (int) field.offset() * Byte.SIZE;
      int bits = field.bits();
      for (int i = 0; i < (bits == 0 ? field.length() * Byte.SIZE : bits); i++) {
        int at = bits == 0 ? first + i : first + bitIndex(field, i);
        assertEquals(0, taken[at], layout + " " + field + " overlaps");
        taken[at] = 1;
      }
    }
  }

  private static int bitIndex(Field field, int bit) {
    int mask = field.max();
    MemorySegment probe = Arena.ofAuto().allocate(field.offset() + Integer.BYTES);
    field.set(probe, 0, mask & 1 << bit);
    int value = Integer.reverseBytes(probe.get(ValueLayout.JAVA_INT_UNALIGNED, field.offset()));
    return Integer.numberOfLeadingZeros(value);
  }

  @Test
  void commandsHaveTheirCommonHeads() {
    Command create = Command.of(Opcode.CREATE_QP);
    assertEquals(272, create.input().size());
    assertEquals(16, create.output().size());
    assertEquals("opcode@0x0[31:16]", create.input().field("opcode").toString());
    assertEquals(Command.OPCODE.toString(), create.input().field("opcode").toString());
    assertEquals(Command.SYNDROME.toString(), create.output().field("syndrome").toString());
    assertEquals(Layouts.QPC.size(), create.input().field("qpc").inner().size());
    assertEquals(0x110, Command.in(Opcode.CREATE_QP, "pas").offset());
    assertEquals("qpn@0x8[23:0]", Command.out(Opcode.CREATE_QP, "qpn").toString());
    assertThrows(IllegalArgumentException.class, () -> Command.of(Opcode.CREATE_LAG));
  }

  @Test
  void numbersAreFoundByNumber() {
    assertEquals(Opcode.TO_ERR_QP, Opcode.of(0x507));
    assertEquals("2ERR_QP", Opcode.TO_ERR_QP.text());
    assertNull(Opcode.of(0x106));
    assertEquals(CommandStatus.BAD_OUTPUT_LENGTH, CommandStatus.of(0x51));
    assertNull(CommandStatus.of(0x07));
    assertEquals(DeliveryStatus.TOKEN, DeliveryStatus.of(2));
    assertEquals(EventType.PAGE_REQUEST, EventType.of(0x0b));
  }

  @Test
  void whatIsNotZeroIsWrittenDown() {
    Layouts.MKC.field("pd").set(memory, 0, 7);
    Layouts.MKC.field("len").setLong(memory, 0, 4096);
    assertEquals("pd=0x7 len=0x1000", Layouts.MKC.format(memory, 0));
    MemorySegment input = Arena.ofAuto().allocate(272);
    Command.OPCODE.set(input, 0, Opcode.CREATE_MKEY.number());
    Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").inner().field("lr").set(input, 0x10, 1);
    assertEquals(
        "opcode=0x200 memory_key_mkey_entry.lr=0x1", Command.of(Opcode.CREATE_MKEY).input().format(input, 0));
  }
}
