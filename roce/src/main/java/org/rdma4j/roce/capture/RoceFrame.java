package org.rdma4j.roce.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;
import org.rdma4j.roce.packet.UdpPorts;

/**
 * The Ethernet, IP and UDP headers around a RoCEv2 packet: fields that can be set and written before a packet, or read
 * from a captured frame. Headers without VLAN tags, IPv4 options and IPv6 extensions.
 *
 * <p>Mutable and used again for frame after frame; not thread-safe; allocates nothing.
 */
public final class RoceFrame {

  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int ETHERNET = 14;
  private static final int IPV4 = 20;
  private static final int IPV6 = 40;
  private static final int UDP = 8;
  private static final int ETHER_TYPE_IPV4 = 0x0800;
  private static final int ETHER_TYPE_IPV6 = 0x86dd;
  private static final int UDP_PROTOCOL = 17;
  private static final int DEFAULT_HOP_LIMIT = 64;

  private static final long IPV4_MAPPED = 0xffff_0000_0000L;

  /** Start of MAC addresses made up here: locally administered. */
  private static final long LOCAL_MAC = 0x0200_0000_0000L;

  /** Start of MAC addresses of groups, as {@link MacAddress#ofMulticast} makes them. */
  private static final long GROUP_MAC = 0x3333_0000_0000L;

  private long sourceMac;
  private long destinationMac;
  private long sourceHi;
  private long sourceLo;
  private long destinationHi;
  private long destinationLo;
  private int trafficClass;
  private int flowLabel;
  private int hopLimit = DEFAULT_HOP_LIMIT;
  private int identification;
  private int sourcePort = UdpPorts.ROCE_V2;
  private int udpChecksum;
  private long packetOffset;
  private int packetLength;

  /** Makes a frame without addresses, with hop limit 64 and source port 4791. */
  public RoceFrame() {}

  /**
   * Sets the addresses, and MAC addresses made up from them: locally administered for a host, the mapped group address
   * for a multicast destination. Both GIDs are IPv4-mapped, or none is.
   *
   * @param newSourceHi first eight bytes of the source GID
   * @param newSourceLo last eight bytes of the source GID
   * @param newDestinationHi first eight bytes of the destination GID
   * @param newDestinationLo last eight bytes of the destination GID
   * @return this frame
   */
  public RoceFrame addresses(long newSourceHi, long newSourceLo, long newDestinationHi, long newDestinationLo) {
    sourceHi = newSourceHi;
    sourceLo = newSourceLo;
    destinationHi = newDestinationHi;
    destinationLo = newDestinationLo;
    sourceMac = LOCAL_MAC | newSourceLo & 0xffff_ffffL;
    boolean group = isIpv4() ? (newDestinationLo >>> 28 & 0xf) == 0xe : newDestinationHi >>> 56 == 0xff;
    destinationMac = (group ? GROUP_MAC : LOCAL_MAC) | newDestinationLo & 0xffff_ffffL;
    return this;
  }

  /**
   * Sets the fields of the IP header that are not addresses or lengths.
   *
   * @param newTrafficClass IPv6 traffic class or IPv4 type of service, 8 bits
   * @param newFlowLabel IPv6 flow label, 20 bits; not used for IPv4
   * @param newHopLimit IPv6 hop limit or IPv4 time to live, 8 bits
   * @param newIdentification IPv4 identification, 16 bits; not used for IPv6
   * @return this frame
   */
  public RoceFrame ip(int newTrafficClass, int newFlowLabel, int newHopLimit, int newIdentification) {
    trafficClass = newTrafficClass & 0xff;
    flowLabel = newFlowLabel & 0xf_ffff;
    hopLimit = newHopLimit & 0xff;
    identification = newIdentification & 0xffff;
    return this;
  }

  /**
   * Sets the UDP source port.
   *
   * @param port 0 to 65535
   * @return this frame
   */
  public RoceFrame sourcePort(int port) {
    sourcePort = port & 0xffff;
    return this;
  }

  /**
   * Bytes of the headers before the BTH.
   *
   * @return 42 over IPv4, 62 over IPv6
   */
  public int headerLength() {
    return ETHERNET + (isIpv4() ? IPV4 : IPV6) + UDP;
  }

  /**
   * Says which IP the frame has.
   *
   * @return true for IPv4, when the source GID is IPv4-mapped
   */
  public boolean isIpv4() {
    return Gid.isIpv4Mapped(sourceHi, sourceLo);
  }

  /**
   * The source address; allocates.
   *
   * @return the GID
   */
  public Gid source() {
    return new Gid(sourceHi, sourceLo);
  }

  /**
   * The destination address; allocates.
   *
   * @return the GID
   */
  public Gid destination() {
    return new Gid(destinationHi, destinationLo);
  }

  /**
   * The Ethernet source address; allocates.
   *
   * @return the address
   */
  public MacAddress sourceMac() {
    return new MacAddress(sourceMac);
  }

  /**
   * The Ethernet destination address; allocates.
   *
   * @return the address
   */
  public MacAddress destinationMac() {
    return new MacAddress(destinationMac);
  }

  /**
   * The IPv6 traffic class or IPv4 type of service.
   *
   * @return 8 bits
   */
  public int trafficClass() {
    return trafficClass;
  }

  /**
   * The IPv6 flow label.
   *
   * @return 20 bits, 0 over IPv4
   */
  public int flowLabel() {
    return flowLabel;
  }

  /**
   * The IPv6 hop limit or IPv4 time to live.
   *
   * @return 8 bits
   */
  public int hopLimit() {
    return hopLimit;
  }

  /**
   * The IPv4 identification.
   *
   * @return 16 bits, 0 over IPv6
   */
  public int identification() {
    return identification;
  }

  /**
   * The UDP source port.
   *
   * @return 0 to 65535
   */
  public int sourcePort() {
    return sourcePort;
  }

  /**
   * Where the BTH of the frame read last lies.
   *
   * @return offset in the memory that was given to {@link #read}
   */
  public long packetOffset() {
    return packetOffset;
  }

  /**
   * The length of the packet read last.
   *
   * @return bytes from the BTH to the end of the pad; the ICRC follows
   */
  public int packetLength() {
    return packetLength;
  }

  /**
   * Writes the headers, with don't-fragment set and right IPv4 checksum.
   *
   * @param memory where to
   * @param offset of the Ethernet header; the BTH belongs {@link #headerLength()} bytes later
   * @param length bytes of the packet from the BTH to the end of the pad
   */
  public void write(MemorySegment memory, long offset, int length) {
    memory.set(INT, offset, (int) (destinationMac >>> 16));
    memory.set(SHORT, offset + 4, (short) destinationMac);
    memory.set(INT, offset + 6, (int) (sourceMac >>> 16));
    memory.set(SHORT, offset + 10, (short) sourceMac);
    memory.set(SHORT, offset + 12, (short) (isIpv4() ? ETHER_TYPE_IPV4 : ETHER_TYPE_IPV6));
    long ip = offset + ETHERNET;
    int udpLength = UDP + length + Icrc.LENGTH;
    if (isIpv4()) {
      memory.set(INT, ip, (0x4500 | trafficClass) << 16 | IPV4 + udpLength);
      memory.set(INT, ip + 4, identification << 16 | IcrcCalculator.DONT_FRAGMENT);
      memory.set(INT, ip + 8, hopLimit << 24 | UDP_PROTOCOL << 16);
      memory.set(INT, ip + 12, (int) sourceLo);
      memory.set(INT, ip + 16, (int) destinationLo);
      memory.set(SHORT, ip + 10, checksum(memory, ip));
    } else {
      memory.set(INT, ip, 6 << 28 | trafficClass << 20 | flowLabel);
      memory.set(INT, ip + 4, udpLength << 16 | UDP_PROTOCOL << 8 | hopLimit);
      memory.set(LONG, ip + 8, sourceHi);
      memory.set(LONG, ip + 16, sourceLo);
      memory.set(LONG, ip + 24, destinationHi);
      memory.set(LONG, ip + 32, destinationLo);
    }
    long udp = offset + headerLength() - UDP;
    memory.set(INT, udp, sourcePort << 16 | UdpPorts.ROCE_V2);
    memory.set(INT, udp + 4, udpLength << 16 | udpChecksum);
  }

  /**
   * Reads the headers of a captured frame.
   *
   * @param memory where from
   * @param offset of the Ethernet header
   * @param length bytes captured
   * @return true when this is a RoCEv2 packet with all its bytes; false leaves the fields undefined
   */
  public boolean read(MemorySegment memory, long offset, int length) {
    if (length < ETHERNET + IPV4 + UDP) {
      return false;
    }
    destinationMac = memory.get(LONG, offset) >>> 16;
    sourceMac = (memory.get(INT, offset + 6) & 0xffff_ffffL) << 16 | memory.get(SHORT, offset + 10) & 0xffff;
    int type = memory.get(SHORT, offset + 12) & 0xffff;
    long ip = offset + ETHERNET;
    boolean roce = type == ETHER_TYPE_IPV4 && readIpv4(memory, ip)
        || type == ETHER_TYPE_IPV6 && readIpv6(memory, ip, length);
    if (!roce || length < headerLength()) {
      return false;
    }
    long udp = offset + headerLength() - UDP;
    sourcePort = memory.get(SHORT, udp) & 0xffff;
    int udpLength = memory.get(SHORT, udp + 4) & 0xffff;
    udpChecksum = memory.get(SHORT, udp + 6) & 0xffff;
    packetOffset = udp + UDP;
    packetLength = udpLength - UDP - Icrc.LENGTH;
    return (memory.get(SHORT, udp + 2) & 0xffff) == UdpPorts.ROCE_V2
        && packetLength >= Bth.LENGTH
        && length >= headerLength() + packetLength + Icrc.LENGTH;
  }

  /**
   * Computes the ICRC for these headers.
   *
   * @param calculator of the memory that holds the packet
   * @param offset of the BTH in that memory
   * @param length bytes from the BTH to the end of the pad
   * @return the ICRC that a packet with these headers must have
   */
  public int icrc(IcrcCalculator calculator, long offset, int length) {
    return calculator.between(
        sourceHi, sourceLo, destinationHi, destinationLo, sourcePort, identification, offset, length);
  }

  private boolean readIpv4(MemorySegment memory, long ip) {
    int start = memory.get(SHORT, ip) & 0xffff;
    sourceHi = 0;
    sourceLo = IPV4_MAPPED | memory.get(INT, ip + 12) & 0xffff_ffffL;
    destinationHi = 0;
    destinationLo = IPV4_MAPPED | memory.get(INT, ip + 16) & 0xffff_ffffL;
    ip(start, 0, memory.get(SHORT, ip + 8) >>> 8, memory.get(SHORT, ip + 4));
    return start >>> 8 == 0x45
        && memory.get(SHORT, ip + 6) == IcrcCalculator.DONT_FRAGMENT
        && (memory.get(SHORT, ip + 8) & 0xff) == UDP_PROTOCOL;
  }

  private boolean readIpv6(MemorySegment memory, long ip, int length) {
    if (length < ETHERNET + IPV6 + UDP) {
      return false;
    }
    int start = memory.get(INT, ip);
    sourceHi = memory.get(LONG, ip + 8);
    sourceLo = memory.get(LONG, ip + 16);
    destinationHi = memory.get(LONG, ip + 24);
    destinationLo = memory.get(LONG, ip + 32);
    ip(start >>> 20, start, memory.get(SHORT, ip + 6), 0);
    return start >>> 28 == 6 && memory.get(SHORT, ip + 6) >>> 8 == UDP_PROTOCOL && !isIpv4();
  }

  /** The Internet checksum of an IPv4 header whose checksum field is zero (RFC 1071). */
  private static short checksum(MemorySegment memory, long ip) {
    int sum = 0;
    for (int i = 0; i < IPV4; i += 2) {
      sum += memory.get(SHORT, ip + i) & 0xffff;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return (short) ~((sum & 0xffff) + (sum >>> 16));
  }
}
