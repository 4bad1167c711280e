package org.rdma4j.roce.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.packet.Aeth;
import org.rdma4j.roce.packet.AtomicAckEth;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;
import org.rdma4j.roce.packet.IcrcIdentification;
import org.rdma4j.roce.packet.Ieth;
import org.rdma4j.roce.packet.ImmDt;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.PacketFormatter;
import org.rdma4j.roce.packet.Reth;

/**
 * Every packet of every capture of two Linux rxe peers is decoded and encoded again from the decoded fields alone, to
 * the same bytes from the Ethernet header to the ICRC. Totals are asserted, so that nothing can be left out unnoticed.
 */
class GoldenTest {

  private static final int CAPTURES = 68;
  private static final int FRAMES = 2633;
  private static final int IPV4_PACKETS = 2478;
  private static final int IPV6_PACKETS = 147;

  /** What is not a good packet, by capture and frame number from 0. */
  private static final Map<String, String> EXCEPTIONS = exceptions();

  private static Map<String, String> exceptions() {
    Map<String, String> exceptions = new TreeMap<>();
    for (int frame : new int[] {0, 1}) {
      exceptions.put("mcast-mckey-ipv6.pcap " + frame, "IGMP");
    }
    for (int frame : new int[] {0, 1, 2, 3, 9, 10}) {
      exceptions.put("mcast-mckey.pcap " + frame, "IGMP");
    }
    for (String family : List.of("ipv4", "ipv6")) {
      exceptions.put("userspace-icrc-probe-" + family + ".pcap 2", "wrong ICRC on purpose");
      exceptions.put("userspace-icrc-probe-" + family + ".pcap 3", "wrong ICRC on purpose");
    }
    return exceptions;
  }

  private final Set<String> exceptionsMet = new HashSet<>();
  private final RoceFrame frame = new RoceFrame();
  private int frames;
  private int ipv4Packets;
  private int ipv6Packets;

  @Test
  void everyPacketDecodesAndEncodesToTheSameBytes() throws IOException, URISyntaxException {
    List<Path> captures;
    try (Stream<Path> files = Files.list(Path.of(GoldenTest.class.getResource("/golden").toURI()))) {
      captures = files.filter(file -> file.toString().endsWith(".pcap")).sorted().toList();
    }
    assertEquals(CAPTURES, captures.size(), "captures");
    for (Path capture : captures) {
      PcapReader reader = PcapReader.open(capture);
      for (int i = 0; reader.next(); i++) {
        frames++;
        check(reader, capture.getFileName() + " " + i);
      }
    }
    assertEquals(FRAMES, frames, "frames");
    assertEquals(IPV4_PACKETS, ipv4Packets, "IPv4 packets");
    assertEquals(IPV6_PACKETS, ipv6Packets, "IPv6 packets");
    assertEquals(EXCEPTIONS.keySet(), new HashSet<>(exceptionsMet), "exceptions");
  }

  private void check(PcapReader reader, String name) {
    String exception = EXCEPTIONS.get(name);
    boolean roce = frame.read(reader.memory(), reader.offset(), reader.length());
    if (exception != null) {
      exceptionsMet.add(name);
      assertEquals(!exception.equals("IGMP"), roce, name);
    }
    if (!roce) {
      assertEquals("IGMP", exception, name);
      return;
    }
    ipv4Packets += frame.isIpv4() ? 1 : 0;
    ipv6Packets += frame.isIpv4() ? 0 : 1;
    assertEquals(reader.length(), frame.headerLength() + frame.packetLength() + Icrc.LENGTH, name);
    byte[] captured = reader.memory().asSlice(reader.offset(), reader.length()).toArray(ValueLayout.JAVA_BYTE);
    byte[] encoded = encode(reader.memory());
    if (exception != null) {
      int end = captured.length - Icrc.LENGTH;
      assertFalse(MemorySegment.ofArray(captured).mismatch(MemorySegment.ofArray(encoded)) < end, name);
      assertFalse(Arrays.equals(captured, encoded), name + " has a right ICRC against expectation");
      return;
    }
    assertArrayEquals(captured, encoded, name);
    recoverIdentification(reader.memory(), name);
    String text = PacketFormatter.format(reader.memory(), frame.packetOffset(), frame.packetLength());
    assertTrue(text.startsWith(Opcode.name(Bth.opcode(reader.memory(), frame.packetOffset())) + " psn "), text);
    assertFalse(text.contains("truncated"), text);
  }

  private void recoverIdentification(MemorySegment memory, String name) {
    if (frame.isIpv4()) {
      long offset = frame.packetOffset();
      int length = frame.packetLength();
      int unknown = new IcrcCalculator(memory).between(
          frame.source(), frame.destination(), frame.sourcePort(), 0, offset, length);
      int difference = Icrc.read(memory, offset + length) ^ unknown;
      assertEquals(frame.identification(), IcrcIdentification.recover(difference, length), name);
    }
  }

  /** Builds the frame anew: nothing but payload is copied. */
  private byte[] encode(MemorySegment from) {
    int length = frame.packetLength();
    byte[] bytes = new byte[frame.headerLength() + length + Icrc.LENGTH];
    MemorySegment to = MemorySegment.ofArray(bytes);
    frame.write(to, 0, length);
    int at = frame.headerLength();
    encodePacket(from, frame.packetOffset(), to, at, length);
    Icrc.write(to, at + length, frame.icrc(new IcrcCalculator(to), at, length));
    return bytes;
  }

  private static void encodePacket(MemorySegment from, long in, MemorySegment to, long out, int length) {
    int opcode = Bth.opcode(from, in);
    assertTrue(Opcode.isKnown(opcode), "opcode " + opcode);
    assertEquals(0, Bth.version(from, in));
    Bth.write(
        to, out, opcode, Bth.solicited(from, in), Bth.padCount(from, in), Bth.pkey(from, in), Bth.destQp(from, in),
        Bth.ackReq(from, in), Bth.psn(from, in));
    Bth.setMigReq(to, out, Bth.migReq(from, in));
    Bth.setFecn(to, out, Bth.fecn(from, in));
    Bth.setBecn(to, out, Bth.becn(from, in));
    int reth = Opcode.rethOffset(opcode);
    if (reth >= 0) {
      Reth.write(
          to, out + reth, Reth.address(from, in + reth), Reth.rkey(from, in + reth), Reth.length(from, in + reth));
    }
    int aeth = Opcode.aethOffset(opcode);
    if (aeth >= 0) {
      Aeth.write(to, out + aeth, Aeth.syndrome(from, in + aeth), Aeth.msn(from, in + aeth));
    }
    int atomic = Opcode.atomicOffset(opcode);
    if (atomic >= 0) {
      AtomicEth.write(
          to, out + atomic, AtomicEth.address(from, in + atomic), AtomicEth.rkey(from, in + atomic),
          AtomicEth.swapOrAdd(from, in + atomic), AtomicEth.compare(from, in + atomic));
    }
    int original = Opcode.atomicAckOffset(opcode);
    if (original >= 0) {
      AtomicAckEth.write(to, out + original, AtomicAckEth.original(from, in + original));
    }
    int imm = Opcode.immOffset(opcode);
    if (imm >= 0) {
      ImmDt.write(to, out + imm, ImmDt.value(from, in + imm));
    }
    int ieth = Opcode.iethOffset(opcode);
    if (ieth >= 0) {
      Ieth.write(to, out + ieth, Ieth.rkey(from, in + ieth));
    }
    int deth = Opcode.dethOffset(opcode);
    if (deth >= 0) {
      Deth.write(to, out + deth, Deth.qkey(from, in + deth), Deth.sourceQp(from, in + deth));
    }
    int header = Opcode.headerLength(opcode);
    int payload = length - header - Bth.padCount(from, in);
    assertEquals(Bth.padCount(from, in), Icrc.padCount(payload));
    MemorySegment.copy(from, in + header, to, out + header, payload);
  }
}
