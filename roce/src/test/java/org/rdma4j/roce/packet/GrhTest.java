package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

class GrhTest {

  private final MemorySegment memory = Arena.ofAuto().allocate(64);

  @Test
  void ipv4IsTwentyZerosAndTheHeaderWithItsChecksum() {
    memory.fill((byte) -1);
    Grh.writeIpv4(memory, 3, 0, 60, 0x1c46, 64, 0xac100a63, 0xac100a0c);
    String header = "4500003c1c4640004011b1dbac100a63ac100a0c";
    assertEquals("00".repeat(20) + header, hex(3));
    assertEquals(4, Grh.version(memory, 3));
    assertEquals(Gid.parse("172.16.10.99"), Grh.source(memory, 3));
    assertEquals(Gid.parse("172.16.10.12"), Grh.destination(memory, 3));
    assertEquals(64, Grh.hopLimit(memory, 3));
    assertEquals(0, Grh.flowLabel(memory, 3));
  }

  @Test
  void ipv6IsTheHeader() {
    Gid a = Gid.parse("2001:db8::2");
    Gid b = Gid.parse("2001:db8::3");
    Grh.writeIpv6(memory, 0, 0xb8, 0xabcde, 1044, 63, a.hi(), a.lo(), b.hi(), b.lo());
    assertEquals(
        "6b8abcde" + "0414113f" + "20010db8000000000000000000000002" + "20010db8000000000000000000000003", hex(0));
    assertEquals(6, Grh.version(memory, 0));
    assertEquals(a, Grh.source(memory, 0));
    assertEquals(b, Grh.destination(memory, 0));
    assertEquals(0xb8, Grh.trafficClass(memory, 0));
    assertEquals(0xabcde, Grh.flowLabel(memory, 0));
    assertEquals(63, Grh.hopLimit(memory, 0));
  }

  @Test
  void anIpv6HeaderIsNotTakenForIpv4() {
    Gid a = new Gid(0x20010db800000000L, 0x0000000045000000L);
    Grh.writeIpv6(memory, 0, 0, 0, 100, 64, a.hi(), a.lo(), 0, 1);
    assertEquals(6, Grh.version(memory, 0));
    memory.fill((byte) 0);
    assertEquals(0, Grh.version(memory, 0));
  }

  @Test
  void randomIpv4HeadersAreReadAsWritten() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 1000; i++) {
      int source = random.nextInt();
      int destination = random.nextInt();
      int tos = random.nextInt(256);
      int ttl = random.nextInt(256);
      Grh.writeIpv4(memory, 0, tos, random.nextInt(65536), random.nextInt(65536), ttl, source, destination);
      assertEquals(4, Grh.version(memory, 0), "seed " + seed);
      assertEquals(Gid.ofIpv4(source), Grh.source(memory, 0), "seed " + seed);
      assertEquals(Gid.ofIpv4(destination), Grh.destination(memory, 0), "seed " + seed);
      assertEquals(tos, Grh.trafficClass(memory, 0), "seed " + seed);
      assertEquals(ttl, Grh.hopLimit(memory, 0), "seed " + seed);
    }
  }

  private String hex(long offset) {
    return HexFormat.of().formatHex(memory.asSlice(offset, Grh.LENGTH).toArray(ValueLayout.JAVA_BYTE));
  }
}
