package org.rdma4j.roce.address;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {

  @ParameterizedTest
  @CsvSource({
    "::ffff:192.0.2.2, ::ffff:192.0.2.2, 0000:0000:0000:0000:0000:ffff:c000:0202",
    "192.0.2.2, ::ffff:192.0.2.2, 0000:0000:0000:0000:0000:ffff:c000:0202",
    "fe80::5054:ff:fe00:201, fe80::5054:ff:fe00:201, fe80:0000:0000:0000:5054:00ff:fe00:0201",
    "2001:DB8:0:0:1:0:0:1, 2001:db8::1:0:0:1, 2001:0db8:0000:0000:0001:0000:0000:0001",
    "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1, 2001:0db8:0000:0001:0001:0001:0001:0001",
    "0:0:0:1:0:0:0:0, 0:0:0:1::, 0000:0000:0000:0001:0000:0000:0000:0000",
    "::, ::, 0000:0000:0000:0000:0000:0000:0000:0000",
    "::1, ::1, 0000:0000:0000:0000:0000:0000:0000:0001",
    "1::, 1::, 0001:0000:0000:0000:0000:0000:0000:0000",
    "::192.0.2.2, ::192.0.2.2, 0000:0000:0000:0000:0000:0000:c000:0202",
    "ff0e::ffff:239.192.0.1, ff0e::ffff:efc0:1, ff0e:0000:0000:0000:0000:ffff:efc0:0001",
  })
  void textFormsAreThoseOfInetNtopAndSysfs(String text, String compressed, String full) {
    Gid gid = Gid.parse(text);
    assertEquals(compressed, gid.toString());
    assertEquals(full, gid.toFullString());
    assertEquals(gid, Gid.parse(compressed));
    assertEquals(gid, Gid.parse(full));
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "", "localhost", "192.0.2", "192.0.2.256", "1.2.3.4.5", "fe80::1%eth0", "[::1]", "::1::", "1:2:3:4:5:6:7", "g::1",
    ":"
  })
  void whatIsNoAddressIsRefusedWithoutAskingAnyone(String text) {
    String message = assertThrows(IllegalArgumentException.class, () -> Gid.parse(text)).getMessage();
    assertTrue(message.contains("'" + text + "'"), message);
  }

  @Test
  void randomGidsSurviveTextMemoryAndInetAddress() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    MemorySegment memory = Arena.ofAuto().allocate(32);
    for (int i = 0; i < 5000; i++) {
      Gid gid = new Gid(sparse(random), sparse(random));
      String hint = "seed " + seed + " gid " + gid.toFullString();
      assertEquals(gid, Gid.parse(gid.toString()), hint);
      assertEquals(gid, Gid.parse(gid.toFullString()), hint);
      assertEquals(gid, Gid.of(gid.toInetAddress()), hint);
      gid.writeTo(memory, i % 16);
      assertEquals(gid, Gid.readFrom(memory, i % 16), hint);
    }
  }

  private static long sparse(Random random) {
    long value = random.nextLong();
    for (int shift = 0; shift < 64; shift += 16) {
      value &= random.nextInt(3) == 0 ? -1L : ~(0xffffL << shift);
    }
    return value;
  }

  @Test
  void ipAddressesAndGidsCorrespond() throws UnknownHostException {
    InetAddress v4 = InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 2});
    assertEquals(Gid.ofIpv4(0xc0000202), Gid.of(v4));
    assertEquals(v4, Gid.of(v4).toInetAddress());
    assertTrue(Gid.of(v4).toInetAddress() instanceof Inet4Address);
    assertTrue(Gid.parse("2001:db8::2").toInetAddress() instanceof Inet6Address);
    assertEquals(0xc0000202, Gid.of(v4).ipv4());
    assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -64, 0, 2, 2}, Gid.of(v4).toByteArray());
  }

  @Test
  void kindsAreTold() {
    assertTrue(Gid.ZERO.isZero());
    assertFalse(Gid.parse("::1").isZero());
    assertTrue(Gid.parse("192.0.2.2").isIpv4Mapped());
    assertFalse(Gid.parse("::192.0.2.2").isIpv4Mapped());
    assertTrue(Gid.parse("fe80::1").isLinkLocal());
    assertTrue(Gid.parse("febf::1").isLinkLocal());
    assertFalse(Gid.parse("fec0::1").isLinkLocal());
    assertTrue(Gid.parse("ff02::1").isMulticast());
    assertTrue(Gid.parse("239.192.0.1").isMulticast());
    assertFalse(Gid.parse("240.0.0.1").isMulticast());
    assertFalse(Gid.parse("fe80::1").isMulticast());
  }

  @Test
  void orderIsUnsigned() {
    assertTrue(Gid.parse("fe80::1").compareTo(Gid.parse("2001:db8::1")) > 0);
    assertTrue(Gid.parse("::ffff:0:0").compareTo(Gid.parse("0:0:0:0:ffff::")) < 0);
    assertEquals(0, Gid.ZERO.compareTo(Gid.parse("::")));
  }

  @Test
  void guidAndMacHaveTheFormsOfTheTools() {
    MacAddress mac = MacAddress.parse("52:54:00:00:02:01");
    Guid guid = Guid.ofMac(mac);
    assertEquals("5054:00ff:fe00:0201", guid.toString());
    assertEquals(guid, Guid.parse("5054:00ff:fe00:0201"));
    assertEquals("fe80::5054:ff:fe00:201", Gid.linkLocal(guid).toString());
    assertEquals("52:54:00:00:02:01", mac.toString());
    assertEquals(mac, MacAddress.of(mac.toByteArray()));
    assertFalse(mac.isMulticast());
    assertEquals("33:33:ef:c0:00:01", MacAddress.ofMulticast(Gid.parse("239.192.0.1")).toString());
    assertTrue(MacAddress.ofMulticast(Gid.parse("ff02::1")).isMulticast());
    for (String bad : new String[] {"", "5054:00ff:fe00", "5054:00ff:fe00:02011", "5054:00ff:fe00:g", "+1:0:0:0"}) {
      assertThrows(IllegalArgumentException.class, () -> Guid.parse(bad), bad);
    }
    for (String bad : new String[] {"", "52:54:00:00:02", "52-54-00-00-02-01", "52:54:00:00:02:0g"}) {
      assertThrows(IllegalArgumentException.class, () -> MacAddress.parse(bad), bad);
    }
    assertThrows(IllegalArgumentException.class, () -> new MacAddress(1L << 48));
  }

  @Test
  void pathMtuHasCodesAndFollowsTheInterface() {
    for (PathMtu mtu : PathMtu.values()) {
      assertEquals(mtu, PathMtu.ofCode(mtu.code()));
      assertEquals(mtu, PathMtu.ofBytes(mtu.bytes()));
      assertEquals("MTU_" + mtu.bytes(), mtu.name());
    }
    assertEquals(1, PathMtu.MTU_256.code());
    assertEquals(PathMtu.MTU_1024, PathMtu.largestFor(1500));
    assertEquals(PathMtu.MTU_4096, PathMtu.largestFor(4200));
    assertEquals(PathMtu.MTU_4096, PathMtu.largestFor(4176));
    assertEquals(PathMtu.MTU_2048, PathMtu.largestFor(4175));
    assertEquals(PathMtu.MTU_4096, PathMtu.largestFor(65536));
    assertEquals(PathMtu.MTU_256, PathMtu.largestFor(68));
    assertThrows(IllegalArgumentException.class, () -> PathMtu.ofCode(0));
    assertThrows(IllegalArgumentException.class, () -> PathMtu.ofCode(6));
    assertThrows(IllegalArgumentException.class, () -> PathMtu.ofBytes(1500));
  }
}
