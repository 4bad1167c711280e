package org.rdma4j.rdma.cm.internal.cma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** What stands before private data, with bytes that a kernel sent. */
public final class CmaHeaderTest {
  private static final HexFormat HEX = HexFormat.of();

  /** Of cm-rping.pcap. */
  private static final String OF_A_KERNEL =
      "0040" + "89a7" + "000000000000000000000000c0000203" + "000000000000000000000000c0000202";

  private static InetAddress address(String text) {
    return new InetSocketAddress(text, 0).getAddress();
  }

  @Test
  public void aKernelsHeaderIsReadAndWritten() {
    byte[] bytes = HEX.parseHex(OF_A_KERNEL);
    CmaHeader header = CmaHeader.read(bytes);
    assertEquals(new CmaHeader(new InetSocketAddress("192.0.2.3", 0x89a7), address("192.0.2.2")), header);
    assertArrayEquals(bytes, header.before(new byte[0]));
  }

  @Test
  public void userDataComeBehind() {
    CmaHeader header = new CmaHeader(new InetSocketAddress("2001:db8::3", 65535), address("2001:db8::2"));
    byte[] all = header.before(new byte[] {1, 2, 3});
    assertEquals("0060ffff20010db8000000000000000000000003" + "20010db8000000000000000000000002" + "010203",
        HEX.formatHex(all));
    assertEquals(header, CmaHeader.read(all));
    assertArrayEquals(new byte[] {1, 2, 3}, CmaHeader.userData(all));
  }

  @Test
  public void whatIsNoneIsNotRead() {
    byte[] good = HEX.parseHex(OF_A_KERNEL);
    assertNull(CmaHeader.read(with(good, 0, 1)), "another version");
    assertNull(CmaHeader.read(with(good, 1, 0x50)), "another family");
    assertNull(CmaHeader.read(with(with(with(good, 16, 0), 18, 0), 19, 0)), "from nowhere");
    assertNull(CmaHeader.read(with(good, 16, 224)), "from a group");
    byte[] broadcast = good.clone();
    Arrays.fill(broadcast, 16, 20, (byte) 0xff);
    assertNull(CmaHeader.read(broadcast), "from everybody");
  }

  private static byte[] with(byte[] bytes, int index, int value) {
    byte[] copy = bytes.clone();
    copy[index] = (byte) value;
    return copy;
  }
}
