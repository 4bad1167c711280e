package org.rdma4j.roce.address;

/**
 * A 64-bit globally unique identifier of a node, port or system image (EUI-64); immutable.
 *
 * @param value the identifier as a number, first byte on the wire in bits 63:56
 */
public record Guid(long value) {

  /** Bit 1 of the first byte: universal or local, inverted in an interface identifier (RFC 4291 appendix A). */
  private static final long UNIVERSAL_LOCAL = 0x0200_0000_0000_0000L;

  /**
   * The modified EUI-64 of a MAC address: {@code ff:fe} in the middle and the universal/local bit inverted, as the
   * kernel makes node and port GUIDs of Ethernet devices (addrconf_addr_eui48).
   *
   * @param mac the MAC address
   * @return the GUID
   */
  public static Guid ofMac(MacAddress mac) {
    long high = mac.value() >>> 24;
    long low = mac.value() & 0xff_ffff;
    return new Guid((high << 40 | 0xff_fe00_0000L | low) ^ UNIVERSAL_LOCAL);
  }

  /**
   * Reads the form of the RDMA tools, four groups of four hexadecimal digits: {@code 5054:00ff:fe00:0201}.
   *
   * @param text the text
   * @return the GUID
   * @throws IllegalArgumentException (EINVAL) when the text is no GUID
   */
  public static Guid parse(String text) {
    String[] groups = text.split(":", -1);
    long value = 0;
    boolean good = groups.length == 4;
    for (int i = 0; good && i < groups.length; i++) {
      good = groups[i].matches("[0-9a-fA-F]{1,4}");
      value = good ? value << 16 | Integer.parseInt(groups[i], 16) : 0;
    }
    if (!good) {
      throw new IllegalArgumentException("'" + text + "' is no GUID like 5054:00ff:fe00:0201");
    }
    return new Guid(value);
  }

  /** The form of the RDMA tools, {@code 5054:00ff:fe00:0201}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(19);
    Gid.appendGroups(text, value);
    return text.toString();
  }
}
