package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;

/**
 * The 40 bytes before the payload in a UD receive buffer (kernel sw/rxe/rxe_resp.c; libibverbs, ibv_init_ah_from_wc).
 * Over IPv6 they are the IPv6 header; over IPv4, 20 bytes of zeros and the IPv4 header.
 */
public final class Grh {

  /** Bytes before the payload. */
  public static final int LENGTH = 40;

  private static final int IPV4 = 20;
  private static final int IPV4_LENGTH = 20;
  private static final int IPV4_START = 0x4500;
  private static final int DONT_FRAGMENT = 0x4000;
  private static final int UDP_PROTOCOL = 17;

  private Grh() {}

  /**
   * Writes the header of a packet that came over IPv6, with next header UDP.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes
   * @param trafficClass 8 bits
   * @param flowLabel 20 bits
   * @param payloadLength bytes after the IPv6 header: UDP header to ICRC
   * @param hopLimit 8 bits
   * @param sourceHi first eight bytes of the source address
   * @param sourceLo last eight bytes of the source address
   * @param destinationHi first eight bytes of the destination address
   * @param destinationLo last eight bytes of the destination address
   */
  public static void writeIpv6(
      MemorySegment memory, long offset, int trafficClass, int flowLabel, int payloadLength, int hopLimit,
      long sourceHi, long sourceLo, long destinationHi, long destinationLo) {
    memory.set(Wire.INT, offset, 6 << 28 | (trafficClass & 0xff) << 20 | flowLabel & 0xf_ffff);
    memory.set(Wire.INT, offset + 4, payloadLength << 16 | UDP_PROTOCOL << 8 | hopLimit & 0xff);
    memory.set(Wire.LONG, offset + 8, sourceHi);
    memory.set(Wire.LONG, offset + 16, sourceLo);
    memory.set(Wire.LONG, offset + 24, destinationHi);
    memory.set(Wire.LONG, offset + 32, destinationLo);
  }

  /**
   * Writes the header of a packet that came over IPv4 with don't-fragment set: 20 zero bytes and the IPv4 header with
   * its checksum.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes
   * @param trafficClass the type of service, 8 bits
   * @param totalLength bytes of the IPv4 header and all after it to the ICRC
   * @param identification 16 bits
   * @param hopLimit the time to live, 8 bits
   * @param source source address, a big-endian number
   * @param destination destination address
   */
  public static void writeIpv4(
      MemorySegment memory, long offset, int trafficClass, int totalLength, int identification, int hopLimit,
      int source, int destination) {
    memory.set(Wire.LONG, offset, 0);
    memory.set(Wire.LONG, offset + 8, 0);
    memory.set(Wire.INT, offset + 16, 0);
    long ip = offset + IPV4;
    memory.set(Wire.INT, ip, (IPV4_START | trafficClass & 0xff) << 16 | totalLength & 0xffff);
    memory.set(Wire.INT, ip + 4, identification << 16 | DONT_FRAGMENT);
    memory.set(Wire.INT, ip + 8, (hopLimit & 0xff) << 24 | UDP_PROTOCOL << 16);
    memory.set(Wire.INT, ip + 12, source);
    memory.set(Wire.INT, ip + 16, destination);
    memory.set(Wire.SHORT, ip + 10, (short) ~ipv4Sum(memory, ip));
  }

  /**
   * The IP version that the 40 bytes show (kernel core/verbs.c, ib_get_rdma_header_version). An IPv4 header counts when
   * its checksum is right: the bytes at its place are addresses in an IPv6 header, and could be anything.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes
   * @return 4, 6, or 0 when neither is there
   */
  public static int version(MemorySegment memory, long offset) {
    int start = memory.get(Wire.BYTE, offset + IPV4) & 0xff;
    boolean ipv6 = (memory.get(Wire.BYTE, offset) & 0xf0) == 0x60;
    boolean ipv4 = start == IPV4_START >>> 8 && ipv4Sum(memory, offset + IPV4) == 0xffff;
    return ipv4 ? 4 : ipv6 ? 6 : 0;
  }

  /**
   * The source GID; allocates.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes, where {@link #version} is not 0
   * @return the GID, IPv4-mapped when the packet came over IPv4
   */
  public static Gid source(MemorySegment memory, long offset) {
    return version(memory, offset) == 4 ? mapped(memory, offset + 32) : Gid.readFrom(memory, offset + 8);
  }

  /**
   * The destination GID; allocates.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes, where {@link #version} is not 0
   * @return the GID, IPv4-mapped when the packet came over IPv4
   */
  public static Gid destination(MemorySegment memory, long offset) {
    return version(memory, offset) == 4 ? mapped(memory, offset + 36) : Gid.readFrom(memory, offset + 24);
  }

  /**
   * The traffic class, or type of service of IPv4.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes, where {@link #version} is not 0
   * @return 8 bits
   */
  public static int trafficClass(MemorySegment memory, long offset) {
    return version(memory, offset) == 4
        ? memory.get(Wire.BYTE, offset + IPV4 + 1) & 0xff
        : memory.get(Wire.INT, offset) >>> 20 & 0xff;
  }

  /**
   * The flow label.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes, where {@link #version} is not 0
   * @return 20 bits, 0 when the packet came over IPv4
   */
  public static int flowLabel(MemorySegment memory, long offset) {
    return version(memory, offset) == 4 ? 0 : memory.get(Wire.INT, offset) & 0xf_ffff;
  }

  /**
   * The hop limit, or time to live of IPv4.
   *
   * @param memory the receive buffer
   * @param offset of the first of 40 bytes, where {@link #version} is not 0
   * @return 8 bits
   */
  public static int hopLimit(MemorySegment memory, long offset) {
    return memory.get(Wire.BYTE, version(memory, offset) == 4 ? offset + IPV4 + 8 : offset + 7) & 0xff;
  }

  private static Gid mapped(MemorySegment memory, long at) {
    return Gid.ofIpv4(memory.get(Wire.INT, at));
  }

  /** The ones' complement sum of an IPv4 header without options (RFC 1071); 0xffff when its checksum is right. */
  private static int ipv4Sum(MemorySegment memory, long ip) {
    int sum = 0;
    for (int i = 0; i < IPV4_LENGTH; i += 2) {
      sum += memory.get(Wire.SHORT, ip + i) & 0xffff;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return (sum & 0xffff) + (sum >>> 16);
  }
}
