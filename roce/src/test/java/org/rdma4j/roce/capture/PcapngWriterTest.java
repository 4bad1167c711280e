package org.rdma4j.roce.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.Reth;

/** Captures are read back by our own reader and, where it is installed, by tshark. */
class PcapngWriterTest {

  private static final Gid IPV4_A = Gid.parse("192.0.2.2");
  private static final Gid IPV4_B = Gid.parse("192.0.2.3");
  private static final Gid IPV6_A = Gid.parse("2001:db8::2");
  private static final Gid IPV6_B = Gid.parse("2001:db8::3");
  private static final long TIME = 1_767_225_600_123_456_789L;

  @TempDir
  private Path folder;

  @Test
  void packetsAreReadBackAsWritten() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Path file = folder.resolve("random.pcapng");
    byte[][] packets = new byte[500][];
    try (PcapngWriter writer = PcapngWriter.create(file)) {
      writer.addInterface("rxe0");
      writer.addInterface("rxe1");
      for (int i = 0; i < packets.length; i++) {
        packets[i] = new byte[12 + 4 * random.nextInt(1040)];
        random.nextBytes(packets[i]);
        RoceFrame headers = headers(i % 3 == 0);
        headers.ip(i, i * 7, i & 0xff, i * 131).sourcePort(0xc000 + i);
        Direction direction = Direction.values()[i % 3];
        writer.write(i & 1, TIME + i, direction, headers, MemorySegment.ofArray(packets[i]), 0, packets[i].length);
      }
    }
    PcapReader reader = PcapReader.open(file);
    RoceFrame frame = new RoceFrame();
    IcrcCalculator icrc = new IcrcCalculator(reader.memory());
    for (int i = 0; i < packets.length; i++) {
      String hint = "seed " + seed + " packet " + i;
      assertTrue(reader.next(), hint);
      assertEquals(TIME + i, reader.epochNanos(), hint);
      assertEquals(Direction.values()[i % 3], reader.direction(), hint);
      assertTrue(frame.read(reader.memory(), reader.offset(), reader.length()), hint);
      assertEquals(i % 3 == 0 ? IPV6_A : IPV4_A, frame.source(), hint);
      assertEquals(i % 3 == 0 ? IPV6_B : IPV4_B, frame.destination(), hint);
      assertEquals(i & 0xff, frame.trafficClass(), hint);
      assertEquals(i % 3 == 0 ? i * 7 : 0, frame.flowLabel(), hint);
      assertEquals(i & 0xff, frame.hopLimit(), hint);
      assertEquals(i % 3 == 0 ? 0 : i * 131 & 0xffff, frame.identification(), hint);
      assertEquals(0xc000 + i, frame.sourcePort(), hint);
      long offset = frame.packetOffset();
      int length = frame.packetLength();
      assertArrayEquals(packets[i], reader.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), hint);
      assertEquals(frame.icrc(icrc, offset, length), Icrc.read(reader.memory(), offset + length), hint);
    }
    assertFalse(reader.next());
  }

  @Test
  void tsharkReadsThePackets() throws IOException, InterruptedException {
    assumeTrue(tsharkIsThere(), "tshark is not installed");
    Path file = folder.resolve("tshark.pcapng");
    MemorySegment packet = MemorySegment.ofArray(new byte[2000]);
    Bth.write(packet, 0, Opcode.RC_RDMA_WRITE_ONLY, true, 0, 0xffff, 0x11, true, 0xabcdef);
    Reth.write(packet, Bth.LENGTH, 0x1122334455667788L, 0x99aabbcc, 1024);
    int length = Opcode.headerLength(Opcode.RC_RDMA_WRITE_ONLY) + 1024;
    try (PcapngWriter writer = PcapngWriter.create(file)) {
      int number = writer.addInterface("rxe0");
      for (boolean ipv6 : new boolean[] {false, true}) {
        writer.write(number, TIME, Direction.OUTBOUND, headers(ipv6), packet, 0, length);
      }
    }
    String fields = tshark(
        "-r", file.toString(), "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "separator=,",
        "-e", "frame.time_epoch", "-e", "frame.interface_name", "-e", "frame.packet_flags_direction",
        "-e", "ip.checksum.status", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn",
        "-e", "infiniband.bth.destqp", "-e", "infiniband.reth.dmalen");
    String[] lines = fields.split("\n");
    assertEquals(2, lines.length, fields);
    for (int i = 0; i < 2; i++) {
      String status = i == 0 ? "1" : "";
      assertEquals("1767225600.123456789,rxe0,0x00000002," + status + ",10,11259375,0x000011,1024", lines[i]);
    }
    assertEquals("", tshark("-r", file.toString(), "-Y", "_ws.malformed || !infiniband"));
  }

  @Test
  void tsharkFindsNothingMalformedInCopiesOfGoldenCaptures() throws Exception {
    assumeTrue(tsharkIsThere(), "tshark is not installed");
    Path golden = Path.of(PcapngWriterTest.class.getResource("/golden").toURI());
    for (String name : List.of("rc-write", "rc-read-ipv6", "rc-atomics", "ud-send", "rc-send-mtu4096-10001b")) {
      Path file = folder.resolve(name + ".pcapng");
      int count = 0;
      try (PcapngWriter writer = PcapngWriter.create(file)) {
        int number = writer.addInterface(name);
        RoceFrame frame = new RoceFrame();
        for (PcapReader in = PcapReader.open(golden.resolve(name + ".pcap")); in.next(); count++) {
          assertTrue(frame.read(in.memory(), in.offset(), in.length()));
          writer.write(
              number, in.epochNanos(), Direction.INBOUND, frame, in.memory(), frame.packetOffset(),
              frame.packetLength());
        }
      }
      String good = "infiniband && !_ws.malformed";
      String numbers = tshark("-r", file.toString(), "-Y", good, "-T", "fields", "-e", "frame.number");
      assertEquals(count, numbers.lines().count(), name);
    }
  }

  @Test
  void closedWriterAndWrongInterfaceAreRefused() throws IOException {
    PcapngWriter writer = new PcapngWriter(Channels.newChannel(new ByteArrayOutputStream()));
    MemorySegment packet = MemorySegment.ofArray(new byte[16]);
    RoceFrame headers = headers(false);
    assertThrows(
        IllegalArgumentException.class, () -> writer.write(0, 0, Direction.INBOUND, headers, packet, 0, 16));
    writer.addInterface("rxe0");
    writer.close();
    writer.close();
    assertThrows(ClosedChannelException.class, () -> writer.write(0, 0, Direction.INBOUND, headers, packet, 0, 16));
    assertThrows(ClosedChannelException.class, () -> writer.addInterface("rxe1"));
  }

  @Test
  void damagedCapturesAreRefused() throws IOException {
    assertThrows(IOException.class, () -> new PcapReader(MemorySegment.ofArray(new byte[100])));
    assertThrows(IOException.class, () -> new PcapReader(MemorySegment.ofArray(new byte[3])));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PcapngWriter writer = new PcapngWriter(Channels.newChannel(bytes))) {
      writer.addInterface("rxe0");
      writer.write(0, 0, Direction.INBOUND, headers(true), MemorySegment.ofArray(new byte[16]), 0, 16);
    }
    MemorySegment cut = MemorySegment.ofArray(bytes.toByteArray()).asSlice(0, bytes.size() - 5);
    assertThrows(IOException.class, () -> new PcapReader(cut).next());
  }

  private static RoceFrame headers(boolean ipv6) {
    Gid source = ipv6 ? IPV6_A : IPV4_A;
    Gid destination = ipv6 ? IPV6_B : IPV4_B;
    return new RoceFrame().addresses(source.hi(), source.lo(), destination.hi(), destination.lo());
  }

  private static boolean tsharkIsThere() {
    return List.of(System.getenv().getOrDefault("PATH", "").split(":")).stream()
        .anyMatch(dir -> Files.isExecutable(Path.of(dir, "tshark")));
  }

  private static String tshark(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tshark"));
    Collections.addAll(command, arguments);
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), "exit status of " + command);
    return output.strip();
  }
}
