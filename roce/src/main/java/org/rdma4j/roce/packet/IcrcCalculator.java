package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.rdma4j.roce.address.Gid;

/**
 * Computes ICRCs of packets that lie in one memory segment: the CRC-32 of Ethernet over eight bytes of ones, the IP,
 * UDP and base transport headers with the fields that change on the way as ones, and the rest of the packet (kernel
 * sw/rxe/rxe_icrc.c, rxe_icrc_hdr; RoCEv2 annex A17.3.3).
 *
 * <p>The masked headers, at most 68 bytes, are put together in a scratch array; the rest is read in place. Nothing is
 * allocated after construction. Not thread-safe: one instance for each thread and memory.
 */
public final class IcrcCalculator {

  /** The IPv4 flags and fragment offset of RoCEv2 packets: don't fragment. */
  public static final int DONT_FRAGMENT = 0x4000;

  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final int ONES = 8;
  private static final int IPV4_LENGTH = 20;
  private static final int IPV6_LENGTH = 40;
  private static final int UDP_LENGTH = 8;
  private static final int UDP_PROTOCOL = 17;

  private final MemorySegment memory;
  private final ByteBuffer view;
  private final CRC32 crc = new CRC32();
  private final byte[] ipv4 = new byte[ONES + IPV4_LENGTH + UDP_LENGTH + Bth.LENGTH];
  private final byte[] ipv6 = new byte[ONES + IPV6_LENGTH + UDP_LENGTH + Bth.LENGTH];

  /**
   * Makes a calculator for the packets of one memory segment.
   *
   * @param memory where the packets lie, native or on a byte array, at most 2^31 - 1 bytes
   * @throws UnsupportedOperationException when the segment cannot be seen as a byte buffer
   */
  public IcrcCalculator(MemorySegment memory) {
    this.memory = memory;
    this.view = memory.asByteBuffer();
    Arrays.fill(ipv4, (byte) 0xff);
    Arrays.fill(ipv6, (byte) 0xff);
  }

  /**
   * Computes the ICRC of a packet over IPv4 without options.
   *
   * @param source source address, a big-endian number
   * @param destination destination address
   * @param identification the IPv4 identification, 0 to 65535
   * @param flags the IPv4 flags and fragment offset, usually {@link #DONT_FRAGMENT}
   * @param sourcePort UDP source port
   * @param destinationPort UDP destination port
   * @param offset of the BTH in the memory
   * @param length bytes from the BTH to the end of the pad, at least {@link Bth#LENGTH}
   * @return the ICRC; see {@link Icrc#write}
   * @throws IndexOutOfBoundsException when the packet is not all inside the memory
   */
  public int ipv4(
      int source, int destination, int identification, int flags, int sourcePort, int destinationPort, long offset,
      int length) {
    byte[] head = ipv4;
    int udpLength = UDP_LENGTH + length + Icrc.LENGTH;
    INT.set(head, ONES, 0x45ff_0000 | IPV4_LENGTH + udpLength);
    INT.set(head, ONES + 4, identification << 16 | flags & 0xffff);
    INT.set(head, ONES + 8, 0xff00_ffff | UDP_PROTOCOL << 16);
    INT.set(head, ONES + 12, source);
    INT.set(head, ONES + 16, destination);
    return finish(head, ONES + IPV4_LENGTH, sourcePort, destinationPort, udpLength, offset, length);
  }

  /**
   * Computes the ICRC of a packet over IPv6 without extension headers.
   *
   * @param sourceHi first eight bytes of the source address
   * @param sourceLo last eight bytes of the source address
   * @param destinationHi first eight bytes of the destination address
   * @param destinationLo last eight bytes of the destination address
   * @param sourcePort UDP source port
   * @param destinationPort UDP destination port
   * @param offset of the BTH in the memory
   * @param length bytes from the BTH to the end of the pad, at least {@link Bth#LENGTH}
   * @return the ICRC; see {@link Icrc#write}
   * @throws IndexOutOfBoundsException when the packet is not all inside the memory
   */
  public int ipv6(
      long sourceHi, long sourceLo, long destinationHi, long destinationLo, int sourcePort, int destinationPort,
      long offset, int length) {
    byte[] head = ipv6;
    int udpLength = UDP_LENGTH + length + Icrc.LENGTH;
    INT.set(head, ONES, 0x6fff_ffff);
    INT.set(head, ONES + 4, udpLength << 16 | UDP_PROTOCOL << 8 | 0xff);
    LONG.set(head, ONES + 8, sourceHi);
    LONG.set(head, ONES + 16, sourceLo);
    LONG.set(head, ONES + 24, destinationHi);
    LONG.set(head, ONES + 32, destinationLo);
    return finish(head, ONES + IPV6_LENGTH, sourcePort, destinationPort, udpLength, offset, length);
  }

  /**
   * Computes the ICRC of a packet between two GIDs to the RoCEv2 port, over IPv4 with {@link #DONT_FRAGMENT} when the
   * source is IPv4-mapped, else over IPv6.
   *
   * @param source source GID
   * @param destination destination GID
   * @param sourcePort UDP source port
   * @param identification the IPv4 identification; not used for IPv6
   * @param offset of the BTH in the memory
   * @param length bytes from the BTH to the end of the pad, at least {@link Bth#LENGTH}
   * @return the ICRC; see {@link Icrc#write}
   * @throws IndexOutOfBoundsException when the packet is not all inside the memory
   */
  public int between(
      Gid source, Gid destination, int sourcePort, int identification, long offset, int length) {
    return between(
        source.hi(), source.lo(), destination.hi(), destination.lo(), sourcePort, identification, offset, length);
  }

  /**
   * The same for GIDs given as numbers, for paths that must not allocate.
   *
   * @param sourceHi first eight bytes of the source GID
   * @param sourceLo last eight bytes of the source GID
   * @param destinationHi first eight bytes of the destination GID
   * @param destinationLo last eight bytes of the destination GID
   * @param sourcePort UDP source port
   * @param identification the IPv4 identification; not used for IPv6
   * @param offset of the BTH in the memory
   * @param length bytes from the BTH to the end of the pad, at least {@link Bth#LENGTH}
   * @return the ICRC; see {@link Icrc#write}
   * @throws IndexOutOfBoundsException when the packet is not all inside the memory
   */
  public int between(
      long sourceHi, long sourceLo, long destinationHi, long destinationLo, int sourcePort, int identification,
      long offset, int length) {
    int port = UdpPorts.ROCE_V2;
    if (Gid.isIpv4Mapped(sourceHi, sourceLo)) {
      return ipv4(
          (int) sourceLo, (int) destinationLo, identification, DONT_FRAGMENT, sourcePort, port, offset, length);
    }
    return ipv6(sourceHi, sourceLo, destinationHi, destinationLo, sourcePort, port, offset, length);
  }

  private int finish(
      byte[] head, int udp, int sourcePort, int destinationPort, int udpLength, long offset, int length) {
    INT.set(head, udp, sourcePort << 16 | destinationPort & 0xffff);
    INT.set(head, udp + 4, udpLength << 16 | 0xffff);
    int bth = udp + UDP_LENGTH;
    INT.set(head, bth, memory.get(Wire.INT, offset));
    INT.set(head, bth + 4, memory.get(Wire.INT, offset + 4) | 0xff00_0000);
    INT.set(head, bth + 8, memory.get(Wire.INT, offset + 8));
    crc.reset();
    crc.update(head, 0, head.length);
    if (length > Bth.LENGTH) {
      view.limit((int) offset + length).position((int) offset + Bth.LENGTH);
      crc.update(view);
    }
    return (int) crc.getValue();
  }
}
