package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;

/** Writes the ICRC behind packets that lie in one memory. */
final class PacketSeal {
  /** The shortest packet, a BTH without anything, in bytes. */
  static final int MIN_PACKET_LENGTH = Bth.LENGTH;

  static final int ICRC_LENGTH = Icrc.LENGTH;

  private final MemorySegment memory;
  private final IcrcCalculator calculator;
  private final int port;

  /** For packets in {@code memory} that have {@code port} as both UDP ports. */
  PacketSeal(MemorySegment memory, int port) {
    this.memory = memory;
    this.port = port;
    calculator = new IcrcCalculator(memory);
  }

  /** Seals a packet that goes out with an IPv4 identification, which IPv6 has not. */
  void seal(Route route, int offset, int length, int identification) {
    Gid source = route.source();
    Gid destination = route.destination();
    int icrc;
    if (source.isIpv4Mapped()) {
      icrc =
          calculator.ipv4(
              source.ipv4(), destination.ipv4(), identification, IcrcCalculator.DONT_FRAGMENT, port, port, offset,
              length);
    } else {
      icrc =
          calculator.ipv6(
              source.hi(), source.lo(), destination.hi(), destination.lo(), port, port, offset, length);
    }
    Icrc.write(memory, offset + length, icrc);
  }
}
