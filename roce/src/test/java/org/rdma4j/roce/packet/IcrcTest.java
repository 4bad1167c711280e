package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

/** The ICRC against vectors made by an independent script, and against the rule written out plainly. */
class IcrcTest {

  private static final byte[] PACKET = HexFormat.of().parseHex("0400ffff0000001180123456" + "0001020304050607");

  @Test
  void ipv4VectorIsRight() {
    MemorySegment memory = Arena.ofAuto().allocate(100);
    MemorySegment.copy(PACKET, 0, memory, ValueLayout.JAVA_BYTE, 7, PACKET.length);
    int icrc = new IcrcCalculator(memory).ipv4(0x0a000001, 0x0a000002, 0x1234, 0x4000, 0xc123, 4791, 7, PACKET.length);
    assertEquals(0xd54f9dcb, icrc);
    Icrc.write(memory, 7 + PACKET.length, icrc);
    byte[] wire = memory.asSlice(7 + PACKET.length, Icrc.LENGTH).toArray(ValueLayout.JAVA_BYTE);
    assertArrayEquals(HexFormat.of().parseHex("cb9d4fd5"), wire);
    assertEquals(icrc, Icrc.read(memory, 7 + PACKET.length));
  }

  @Test
  void ipv6VectorIsRight() {
    IcrcCalculator calculator = new IcrcCalculator(MemorySegment.ofArray(PACKET));
    Gid source = Gid.parse("fe80::1");
    Gid destination = Gid.parse("fe80::2");
    assertEquals(0x75afa7ce, calculator.between(source, destination, 0xc123, 0, 0, PACKET.length));
  }

  @Test
  void randomPacketsAgreeWithThePlainRule() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      int length = 12 + 4 * random.nextInt(1040);
      byte[] bytes = new byte[length + 16];
      random.nextBytes(bytes);
      int offset = random.nextInt(16);
      int port = random.nextInt(65536);
      int identification = random.nextInt(65536);
      Gid source = random.nextBoolean() ? Gid.ofIpv4(random.nextInt()) : new Gid(random.nextLong(), 5);
      Gid destination = source.isIpv4Mapped() ? Gid.ofIpv4(random.nextInt()) : new Gid(random.nextLong(), 6);
      int icrc = new IcrcCalculator(MemorySegment.ofArray(bytes))
          .between(source, destination, port, identification, offset, length);
      byte[] packet = Arrays.copyOfRange(bytes, offset, offset + length);
      assertEquals(plain(source, destination, port, identification, packet), icrc, "seed " + seed + " packet " + i);
    }
  }

  private static int plain(Gid source, Gid destination, int port, int identification, byte[] packet) {
    int udpLength = packet.length + 12;
    String ip = source.isIpv4Mapped()
        ? "%s45ff%04x%04x4000ff11ffff%08x%08x".formatted(
            "ff".repeat(8), udpLength + 20, identification, source.ipv4(), destination.ipv4())
        : "%s6fffffff%04x11ff%016x%016x%016x%016x".formatted(
            "ff".repeat(8), udpLength, source.hi(), source.lo(), destination.hi(), destination.lo());
    byte[] masked = packet.clone();
    masked[4] = -1;
    CRC32 crc = new CRC32();
    crc.update(HexFormat.of().parseHex(ip + "%04x%04x%04xffff".formatted(port, 4791, udpLength)));
    crc.update(masked);
    return (int) crc.getValue();
  }

  @Test
  void padFillsToFour() {
    int[] pads = IntStream.range(0, 6).map(Icrc::padCount).toArray();
    assertArrayEquals(new int[] {0, 3, 2, 1, 0, 3}, pads);
  }
}
