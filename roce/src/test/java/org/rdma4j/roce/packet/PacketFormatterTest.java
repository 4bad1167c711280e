package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class PacketFormatterTest {

  private final MemorySegment packet = MemorySegment.ofArray(new byte[100]);

  @Test
  void sendWithPadAndFlags() {
    Bth.write(packet, 0, Opcode.RC_SEND_ONLY, true, 3, 0xffff, 0x11, true, 12);
    assertEquals("RC SEND Only psn 12 qp 0x11 solicited ackreq len 65", PacketFormatter.format(packet, 0, 80));
  }

  @Test
  void writeWithImmediate() {
    bth(Opcode.UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
    Reth.write(packet, 12, 0x7f0000001000L, 0xdeadbeef, 8);
    ImmDt.write(packet, 28, 0x01020304);
    assertEquals(
        "UC WRITE Only Imm psn 1 qp 0x12 va 0x7f0000001000 rkey 0xdeadbeef dmalen 8 imm 0x1020304 len 8",
        PacketFormatter.format(packet, 0, 40));
  }

  @Test
  void acknowledgesAndAtomics() {
    bth(Opcode.RC_ACKNOWLEDGE);
    Aeth.write(packet, 12, Syndrome.NAK_REMOTE_ACCESS, 7);
    assertEquals("RC ACK psn 1 qp 0x12 msn 7 NAK remote access error len 0", PacketFormatter.format(packet, 0, 16));
    bth(Opcode.RC_ATOMIC_ACKNOWLEDGE);
    Aeth.write(packet, 12, Syndrome.ACK_NO_CREDIT_LIMIT, 8);
    AtomicAckEth.write(packet, 16, 40);
    assertEquals("RC ATOMIC ACK psn 1 qp 0x12 msn 8 ACK original 0x28 len 0", PacketFormatter.format(packet, 0, 24));
    bth(Opcode.RC_COMPARE_SWAP);
    AtomicEth.write(packet, 12, 0x1000, 5, 45, 40);
    assertEquals(
        "RC CmpSwap psn 1 qp 0x12 va 0x1000 rkey 0x5 swap 0x2d compare 0x28 len 0",
        PacketFormatter.format(packet, 0, 40));
    bth(Opcode.RC_FETCH_ADD);
    assertEquals("RC FetchAdd psn 1 qp 0x12 va 0x1000 rkey 0x5 add 0x2d len 0", PacketFormatter.format(packet, 0, 40));
  }

  @Test
  void datagramAndInvalidate() {
    bth(Opcode.UD_SEND_ONLY);
    Deth.write(packet, 12, 0x11111111, 0x13);
    assertEquals("UD SEND Only psn 1 qp 0x12 sqp 0x13 qkey 0x11111111 len 4", PacketFormatter.format(packet, 0, 24));
    bth(Opcode.RC_SEND_ONLY_WITH_INVALIDATE);
    Ieth.write(packet, 12, 0xabcd);
    assertEquals("RC SEND Only Inv psn 1 qp 0x12 invalidate 0xabcd len 4", PacketFormatter.format(packet, 0, 20));
  }

  @Test
  void flushAndAtomicWrite() {
    bth(Opcode.RC_FLUSH);
    Feth.write(packet, 12, Feth.GLOBAL, Feth.RANGE);
    Reth.write(packet, 16, 0x1000, 5, 0x80000000L);
    assertEquals(
        "RC FLUSH psn 1 qp 0x12 global range va 0x1000 rkey 0x5 dmalen 2147483648 len 0",
        PacketFormatter.format(packet, 0, 32));
    Feth.write(packet, 12, Feth.GLOBAL | Feth.PERSISTENT, Feth.REGION);
    assertEquals(
        "RC FLUSH psn 1 qp 0x12 global persistent region va 0x1000 rkey 0x5 dmalen 2147483648 len 0",
        PacketFormatter.format(packet, 0, 32));
    Feth.write(packet, 12, 12, 3);
    assertEquals(
        "RC FLUSH psn 1 qp 0x12 placement 0xc selectivity 3 va 0x1000 rkey 0x5 dmalen 2147483648 len 0",
        PacketFormatter.format(packet, 0, 32));
    bth(Opcode.RC_ATOMIC_WRITE);
    Reth.write(packet, 12, 0x1000, 5, 8);
    assertEquals(
        "RC ATOMIC WRITE psn 1 qp 0x12 va 0x1000 rkey 0x5 dmalen 8 len 8", PacketFormatter.format(packet, 0, 36));
  }

  @Test
  void extendedConnections() {
    bth(Opcode.XRC_SEND_ONLY);
    Xrceth.write(packet, 12, 0x20001);
    assertEquals("XRC SEND Only psn 1 qp 0x12 srq 0x20001 len 4", PacketFormatter.format(packet, 0, 20));
    bth(Opcode.XRC_COMPARE_SWAP);
    Xrceth.write(packet, 12, 7);
    AtomicEth.write(packet, 16, 0x1000, 5, 45, 40);
    assertEquals(
        "XRC CmpSwap psn 1 qp 0x12 srq 0x7 va 0x1000 rkey 0x5 swap 0x2d compare 0x28 len 0",
        PacketFormatter.format(packet, 0, 44));
    bth(Opcode.XRC_ACKNOWLEDGE);
    Aeth.write(packet, 12, Syndrome.ACK_NO_CREDIT_LIMIT, 3);
    assertEquals("XRC ACK psn 1 qp 0x12 msn 3 ACK len 0", PacketFormatter.format(packet, 0, 16));
  }

  @Test
  void managementDatagrams() {
    MemorySegment datagram = MemorySegment.ofArray(new byte[20 + 256]);
    Bth.write(datagram, 0, Opcode.UD_SEND_ONLY, false, 0, 0xffff, 1, false, 5);
    Deth.write(datagram, 12, 0x80010000, 1);
    datagram.set(ValueLayout.JAVA_BYTE, 20 + 1, (byte) 0x81);
    datagram.set(ValueLayout.JAVA_BYTE, 20 + 3, (byte) 0x92);
    datagram.set(ValueLayout.JAVA_BYTE, 20 + 15, (byte) 9);
    datagram.set(ValueLayout.JAVA_BYTE, 20 + 17, (byte) 0x35);
    assertEquals(
        "UD SEND Only psn 5 qp 0x1 sqp 0x1 qkey 0x80010000 MAD class 0x81 method 0x92 attribute 0x35 tid 0x9 len 256",
        PacketFormatter.format(datagram, 0, 276));
    assertEquals("UD SEND Only psn 5 qp 0x1 sqp 0x1 qkey 0x80010000 len 20", PacketFormatter.format(datagram, 0, 40));
  }

  @Test
  void oddPacketsAreShownToo() {
    bth(Opcode.RC_RDMA_READ_REQUEST);
    assertEquals("RC READ Request psn 1 qp 0x12 truncated: 20 bytes", PacketFormatter.format(packet, 0, 20));
    assertEquals("truncated: 8 bytes", PacketFormatter.format(packet, 0, 8));
    Bth.write(packet, 0, 0x1f, false, 0, 0x8001, 0x12, false, 1);
    Bth.setFecn(packet, 0, true);
    assertEquals("opcode 0x1f psn 1 qp 0x12 fecn pkey 0x8001 len 4", PacketFormatter.format(packet, 0, 16));
  }

  private void bth(int opcode) {
    Bth.write(packet, 0, opcode, false, 0, 0xffff, 0x12, false, 1);
  }
}
