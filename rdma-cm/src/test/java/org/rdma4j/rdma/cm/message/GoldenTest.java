package org.rdma4j.rdma.cm.message;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.roce.address.Gid;

/** Every MAD of every capture of Linux peers, decoded into its fields and encoded from them to the same bytes. */
class GoldenTest {
  /** As many as tshark finds. */
  private static final Map<CmAttribute, Integer> EXPECTED =
      Map.of(
          CmAttribute.REQ, 30,
          CmAttribute.REJ, 6,
          CmAttribute.REP, 20,
          CmAttribute.RTU, 20,
          CmAttribute.DREQ, 22,
          CmAttribute.DREP, 22,
          CmAttribute.SIDR_REQ, 2,
          CmAttribute.SIDR_REP, 2);

  @Test
  void everyMessageBecomesTheSameBytesAgain() throws IOException {
    Map<CmAttribute, Integer> seen = new EnumMap<>(CmAttribute.class);
    for (String capture : CapturedMads.CAPTURES) {
      int frame = 0;
      for (MemorySegment mad : CapturedMads.of(capture)) {
        assertEquals(MadHeader.CLASS_CM, MadHeader.MANAGEMENT_CLASS.getInt(mad));
        CmAttribute kind = CmAttribute.of(MadHeader.ATTRIBUTE_ID.getInt(mad)).orElseThrow();
        assertArrayEquals(
            mad.toArray(ValueLayout.JAVA_BYTE),
            again(kind, mad).toArray(ValueLayout.JAVA_BYTE),
            capture + ", MAD " + frame + ", " + kind);
        seen.merge(kind, 1, Integer::sum);
        frame++;
      }
    }
    assertEquals(EXPECTED, seen);
  }

  private static MemorySegment again(CmAttribute kind, MemorySegment mad) {
    MemorySegment copy = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
    MadHeader.BASE_VERSION.set(copy, MadHeader.BASE_VERSION_1);
    MadHeader.MANAGEMENT_CLASS.set(copy, MadHeader.CLASS_CM);
    MadHeader.CLASS_VERSION.set(copy, MadHeader.CLASS_VERSION_CM);
    MadHeader.METHOD.set(copy, MadHeader.METHOD_SEND);
    MadHeader.TRANSACTION_ID.set(copy, MadHeader.TRANSACTION_ID.get(mad));
    MadHeader.ATTRIBUTE_ID.set(copy, kind.id());
    MadHeader.ATTRIBUTE_MODIFIER.set(copy, MadHeader.ATTRIBUTE_MODIFIER.get(mad));
    kind.fields().forEach(field -> field.set(copy, field.get(mad)));
    kind.areas().forEach(area -> area.set(copy, area.get(mad)));
    return copy;
  }

  /** What tshark says of the first request of rping. */
  @Test
  void aRequestOfRping() throws IOException {
    MemorySegment mad = CapturedMads.of("cm-rping").getFirst();
    assertEquals(CmAttribute.REQ.id(), MadHeader.ATTRIBUTE_ID.getInt(mad));
    assertEquals(0x2090ea253L, MadHeader.TRANSACTION_ID.get(mad));
    assertEquals(0x53a20e09, Req.LOCAL_COMM_ID.getInt(mad));
    assertEquals(0x0000000001061c06L, Req.SERVICE_ID.get(mad));
    assertEquals(0x505400fffe000202L, Req.LOCAL_CA_GUID.get(mad));
    assertEquals(0x71, Req.LOCAL_QPN.getInt(mad));
    assertEquals(1, Req.RESPONDER_RESOURCES.getInt(mad));
    assertEquals(1, Req.INITIATOR_DEPTH.getInt(mad));
    assertEquals(0x14, Req.REMOTE_CM_RESPONSE_TIMEOUT.getInt(mad));
    assertEquals(0x033951, Req.STARTING_PSN.getInt(mad));
    assertEquals(0x14, Req.LOCAL_CM_RESPONSE_TIMEOUT.getInt(mad));
    assertEquals(7, Req.RETRY_COUNT.getInt(mad));
    assertEquals(0xffff, Req.PARTITION_KEY.getInt(mad));
    assertEquals(5, Req.PATH_PACKET_PAYLOAD_MTU.getInt(mad));
    assertEquals(7, Req.RNR_RETRY_COUNT.getInt(mad));
    assertEquals(15, Req.MAX_CM_RETRIES.getInt(mad));
    assertEquals(Gid.parse("::ffff:192.0.2.3"), Req.PRIMARY_LOCAL_PORT_GID.getGid(mad));
    assertEquals(Gid.parse("::ffff:192.0.2.2"), Req.PRIMARY_REMOTE_PORT_GID.getGid(mad));
    assertEquals(64, Req.PRIMARY_HOP_LIMIT.getInt(mad));
    assertTrue(Req.ALTERNATE_LOCAL_PORT_GID.getGid(mad).isZero());
    assertEquals(92, Req.PRIVATE_DATA.length());
  }
}
