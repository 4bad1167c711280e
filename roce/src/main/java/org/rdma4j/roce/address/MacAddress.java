package org.rdma4j.roce.address;

import java.util.HexFormat;

/**
 * A 48-bit Ethernet address; immutable.
 *
 * @param value the address as a number, first byte on the wire in bits 47:40; 0 to 2^48 - 1
 */
public record MacAddress(long value) {

  private static final int LENGTH = 6;

  /**
   * Makes an address from its number.
   *
   * @throws IllegalArgumentException (EINVAL) when the value has more than 48 bits
   */
  public MacAddress {
    if (value >>> 48 != 0) {
      throw new IllegalArgumentException("MAC address 0x" + Long.toHexString(value) + " has more than 48 bits");
    }
  }

  /**
   * Makes an address from its bytes in wire order.
   *
   * @param bytes six bytes
   * @return the address
   * @throws IllegalArgumentException (EINVAL) when there are not six bytes
   */
  public static MacAddress of(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException("MAC address of " + bytes.length + " bytes: " + LENGTH + " are needed");
    }
    long value = 0;
    for (byte b : bytes) {
      value = value << 8 | b & 0xff;
    }
    return new MacAddress(value);
  }

  /**
   * Reads the usual text form, six two-digit hexadecimal bytes with colons between them: {@code 52:54:00:00:02:01}.
   *
   * @param text the text
   * @return the address
   * @throws IllegalArgumentException (EINVAL) when the text is no MAC address
   */
  public static MacAddress parse(String text) {
    try {
      return of(HexFormat.ofDelimiter(":").parseHex(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + text + "' is no MAC address like 52:54:00:00:02:01", e);
    }
  }

  /**
   * The Ethernet group address of a multicast GID: {@code 33:33} and the last 32 bits, as rxe programs it for IPv6 and
   * IPv4-mapped groups alike (kernel sw/rxe/rxe_mcast.c, rxe_mcast_add).
   *
   * @param group the multicast GID
   * @return the group address
   */
  public static MacAddress ofMulticast(Gid group) {
    return new MacAddress(0x3333_0000_0000L | group.lo() & 0xffff_ffffL);
  }

  /**
   * The bytes in wire order.
   *
   * @return a new array of six bytes
   */
  public byte[] toByteArray() {
    byte[] bytes = new byte[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      bytes[i] = (byte) (value >>> 8 * (LENGTH - 1 - i));
    }
    return bytes;
  }

  /**
   * Says whether this is a group address (bit 0 of the first byte, IEEE 802 group bit), broadcast included.
   *
   * @return true for a group address
   */
  public boolean isMulticast() {
    return (value >>> 40 & 1) != 0;
  }

  /** The usual text form, {@code 52:54:00:00:02:01}. */
  @Override
  public String toString() {
    return HexFormat.ofDelimiter(":").formatHex(toByteArray());
  }
}
