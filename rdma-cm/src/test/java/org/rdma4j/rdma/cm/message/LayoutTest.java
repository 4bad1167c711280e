package org.rdma4j.rdma.cm.message;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;
import org.rdma4j.ib.core.mad.MadHeader;

class LayoutTest {
  private static final int[] PRIVATE_DATA = {92, 222, 148, 196, 224, 220, 224, 216, 136, 168, 148};

  private final MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);

  /** No two parts share a bit, and all are inside the MAD. */
  @ParameterizedTest
  @EnumSource
  void partsDoNotOverlap(CmAttribute kind) {
    int bits = 0;
    for (MadField field : kind.fields()) {
      field.set(mad, field.max());
      bits += Long.bitCount(field.max());
      assertEquals(bits, ones(), kind + " " + field);
      assertEquals(field.max(), field.get(mad));
    }
    for (MadBytes area : kind.areas()) {
      byte[] all = new byte[area.length()];
      Arrays.fill(all, (byte) 0xff);
      area.set(mad, all);
      bits += area.length() * Byte.SIZE;
      assertEquals(bits, ones(), kind + " " + area);
    }
    for (MadField field : kind.fields()) {
      field.set(mad, 0);
      bits -= Long.bitCount(field.max());
      assertEquals(bits, ones(), kind + " " + field);
    }
    assertEquals(MadHeader.MAD_BYTES, MadHeader.BYTES + 232);
  }

  private int ones() {
    int ones = 0;
    for (byte each : mad.toArray(ValueLayout.JAVA_BYTE)) {
      ones += Integer.bitCount(each & 0xff);
    }
    return ones;
  }

  @ParameterizedTest
  @EnumSource
  void privateDataIsAsLongAsTheKernelSays(CmAttribute kind) {
    assertEquals(PRIVATE_DATA[kind.ordinal()], kind.privateData().length());
    assertEquals("private data", kind.privateData().name());
    assertEquals(Optional.of(kind), CmAttribute.of(kind.id()));
  }

  @Test
  void otherAttributes() {
    for (int id : List.of(0, 1, 0x0f, 0x1b, 0xffff)) {
      assertEquals(Optional.empty(), CmAttribute.of(id));
    }
  }

  @Test
  void whatDoesNotFit() {
    String said =
        assertThrows(IllegalArgumentException.class, () -> Req.LOCAL_QPN.set(mad, 1 << 24)).getMessage();
    assertEquals("local qpn: 16777216 does not fit, at most 16777215 is allowed", said);
    assertThrows(IllegalArgumentException.class, () -> Req.RETRY_COUNT.set(mad, -1));
    said = assertThrows(IllegalArgumentException.class, () -> Rej.ARI.set(mad, new byte[73])).getMessage();
    assertEquals("ari: 73 bytes do not fit, at most 72 are allowed", said);
    assertEquals(0, ones());
  }

  @Test
  void shorterBytesLeaveNothingOld() {
    Rej.ARI.set(mad, new byte[] {1, 2, 3, 4});
    Rej.ARI.set(mad, new byte[] {5});
    byte[] all = Rej.ARI.get(mad);
    assertEquals(72, all.length);
    assertArrayEquals(new byte[] {5, 0, 0, 0}, Arrays.copyOf(all, 4));
    assertTrue(ones() == 2);
  }
}
