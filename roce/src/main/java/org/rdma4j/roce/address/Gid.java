package org.rdma4j.roce.address;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A 128-bit global identifier of a port, which for RoCEv2 is its IPv6 address or its IPv4 address in IPv4-mapped form
 * (RoCEv2 annex A17.4.5.2); immutable. Counterpart of the kernel's and libibverbs' {@code union ibv_gid}.
 *
 * @param hi the first eight bytes on the wire as a big-endian number (subnet prefix)
 * @param lo the last eight bytes on the wire as a big-endian number (interface identifier)
 */
public record Gid(long hi, long lo) implements Comparable<Gid> {

  /** Bytes of a GID in memory and on the wire. */
  public static final int LENGTH = 16;

  /** The GID of sixteen zero bytes: an unused entry of a GID table. */
  public static final Gid ZERO = new Gid(0, 0);

  private static final ValueLayout.OfLong BE_LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final long LINK_LOCAL_PREFIX = 0xfe80_0000_0000_0000L;
  private static final long MAPPED = 0xffff_0000_0000L;
  private static final int GROUPS = 8;

  /**
   * The GID of an IP address.
   *
   * @param address an IPv4 address, which gives the IPv4-mapped GID, or an IPv6 address, whose scope is left out
   * @return the GID
   */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return bytes.length == 4 ? ofIpv4(buffer.getInt()) : new Gid(buffer.getLong(), buffer.getLong());
  }

  /**
   * The IPv4-mapped GID of an IPv4 address.
   *
   * @param address the IPv4 address as a big-endian number, 192.0.2.2 being 0xc0000202
   * @return the GID {@code ::ffff:a.b.c.d}
   */
  public static Gid ofIpv4(int address) {
    return new Gid(0, MAPPED | address & 0xffff_ffffL);
  }

  /**
   * The link-local GID of an interface identifier, entry 0 of a RoCE port's GID table.
   *
   * @param interfaceId the port GUID
   * @return the GID {@code fe80::} with the identifier
   */
  public static Gid linkLocal(Guid interfaceId) {
    return new Gid(LINK_LOCAL_PREFIX, interfaceId.value());
  }

  /**
   * Reads an address literal: any text form of IPv6 without scope, or four decimal numbers for IPv4. Never asks a
   * name service.
   *
   * @param text the literal
   * @return the GID; IPv4-mapped for an IPv4 address
   * @throws IllegalArgumentException (EINVAL) when the text is no such literal
   */
  public static Gid parse(String text) {
    boolean ipv6 = text.indexOf(':') >= 0;
    boolean plain = text.matches(ipv6 ? "[0-9a-fA-F:.]+" : "\\d{1,3}(\\.\\d{1,3}){3}");
    try {
      if (plain) {
        return of(ipv6 ? Inet6Address.ofLiteral(text) : Inet4Address.ofLiteral(text));
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(noGid(text), e);
    }
    throw new IllegalArgumentException(noGid(text));
  }

  private static String noGid(String text) {
    return "'" + text + "' is no GID: an IPv6 address without scope or an IPv4 address is needed";
  }

  /**
   * Reads a GID from memory in wire order.
   *
   * @param memory the memory
   * @param offset of the first of 16 bytes, any alignment
   * @return the GID
   * @throws IndexOutOfBoundsException when the bytes are not all inside the memory
   */
  public static Gid readFrom(MemorySegment memory, long offset) {
    return new Gid(memory.get(BE_LONG, offset), memory.get(BE_LONG, offset + 8));
  }

  /**
   * Writes this GID to memory in wire order.
   *
   * @param memory the memory
   * @param offset of the first of 16 bytes, any alignment
   * @throws IndexOutOfBoundsException when the bytes are not all inside the memory
   */
  public void writeTo(MemorySegment memory, long offset) {
    memory.set(BE_LONG, offset, hi);
    memory.set(BE_LONG, offset + 8, lo);
  }

  /**
   * Says whether all bytes are zero.
   *
   * @return true for {@link #ZERO}
   */
  public boolean isZero() {
    return (hi | lo) == 0;
  }

  /**
   * Says whether this stands for an IPv4 address, {@code ::ffff:0:0/96}.
   *
   * @return true for an IPv4-mapped GID
   */
  public boolean isIpv4Mapped() {
    return isIpv4Mapped(hi, lo);
  }

  /**
   * Says whether two numbers are an IPv4-mapped GID; for paths that must not allocate.
   *
   * @param hi the first eight bytes
   * @param lo the last eight bytes
   * @return true for {@code ::ffff:0:0/96}
   */
  public static boolean isIpv4Mapped(long hi, long lo) {
    return hi == 0 && lo >>> 32 == 0xffff;
  }

  /**
   * The IPv4 address of an IPv4-mapped GID.
   *
   * @return the last four bytes as a big-endian number; meaningless when not {@link #isIpv4Mapped()}
   */
  public int ipv4() {
    return (int) lo;
  }

  /**
   * Says whether this is a link-local IPv6 address, {@code fe80::/10}.
   *
   * @return true for a link-local GID
   */
  public boolean isLinkLocal() {
    return hi >>> 54 == LINK_LOCAL_PREFIX >>> 54;
  }

  /**
   * Says whether this is a multicast address: {@code ff00::/8}, or IPv4-mapped {@code 224.0.0.0/4} (kernel
   * rdma/ib_addr.h, rdma_is_multicast_addr).
   *
   * @return true for a multicast GID
   */
  public boolean isMulticast() {
    return isMulticast(hi, lo);
  }

  /**
   * Says whether two numbers are a multicast GID; for paths that must not allocate.
   *
   * @param hi the first eight bytes
   * @param lo the last eight bytes
   * @return true for {@code ff00::/8} and IPv4-mapped {@code 224.0.0.0/4}
   */
  public static boolean isMulticast(long hi, long lo) {
    return hi >>> 56 == 0xff || isIpv4Mapped(hi, lo) && (lo >>> 28 & 0xf) == 0xe;
  }

  /**
   * The IP address that this GID stands for.
   *
   * @return an {@link Inet4Address} for an IPv4-mapped GID, else an {@link Inet6Address} without scope
   */
  public InetAddress toInetAddress() {
    try {
      return InetAddress.getByAddress(
          isIpv4Mapped() ? ByteBuffer.allocate(4).putInt(ipv4()).array() : toByteArray());
    } catch (UnknownHostException e) {
      throw new AssertionError("4 and 16 bytes are always an address", e);
    }
  }

  /**
   * The bytes in wire order.
   *
   * @return a new array of 16 bytes
   */
  public byte[] toByteArray() {
    return ByteBuffer.allocate(LENGTH).putLong(hi).putLong(lo).array();
  }

  /** Orders GIDs as unsigned 128-bit numbers. */
  @Override
  public int compareTo(Gid other) {
    int order = Long.compareUnsigned(hi, other.hi);
    return order != 0 ? order : Long.compareUnsigned(lo, other.lo);
  }

  /** The compressed text form of {@code inet_ntop}: {@code ::ffff:192.0.2.2}, {@code fe80::5054:ff:fe00:201}. */
  @Override
  public String toString() {
    int start = -1;
    int run = 1;
    for (int i = 0; i < GROUPS; i++) {
      int end = i;
      while (end < GROUPS && group(end) == 0) {
        end++;
      }
      if (end - i > run) {
        start = i;
        run = end - i;
      }
    }
    boolean dotted = start == 0 && (run == 6 || run == 5 && group(5) == 0xffff);
    StringBuilder text = new StringBuilder(39);
    for (int i = 0; i < GROUPS; i++) {
      if (i == start) {
        text.append(i + run == GROUPS ? "::" : ":");
        i += run - 1;
        continue;
      }
      text.append(i == 0 ? "" : ":");
      if (dotted && i == 6) {
        int v4 = ipv4();
        return text.append(v4 >>> 24).append('.').append(v4 >>> 16 & 0xff).append('.').append(v4 >>> 8 & 0xff)
            .append('.').append(v4 & 0xff).toString();
      }
      text.append(Integer.toHexString(group(i)));
    }
    return text.toString();
  }

  /**
   * The full text form of sysfs: {@code 0000:0000:0000:0000:0000:ffff:c000:0202}.
   *
   * @return eight groups of four hexadecimal digits
   */
  public String toFullString() {
    StringBuilder text = new StringBuilder(39);
    appendGroups(text, hi);
    appendGroups(text.append(':'), lo);
    return text.toString();
  }

  private int group(int index) {
    return (int) ((index < 4 ? hi : lo) >>> 16 * (3 - index % 4)) & 0xffff;
  }

  static void appendGroups(StringBuilder text, long value) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text.append(Character.forDigit((int) (value >>> shift & 0xf), 16));
      text.append(shift > 0 && shift % 16 == 0 ? ":" : "");
    }
  }
}
