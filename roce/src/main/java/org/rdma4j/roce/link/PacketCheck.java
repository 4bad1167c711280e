package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Icrc;
import org.rdma4j.roce.packet.IcrcCalculator;
import org.rdma4j.roce.packet.IcrcIdentification;

/** Checks the ICRC of received packets that lie in one memory, and counts how that went. */
final class PacketCheck {
  /** The packet is to be dropped. */
  static final int REFUSED = -2;

  private final MemorySegment memory;
  private final IcrcCalculator calculator;
  private final IcrcCheck mode;
  private final LinkCounters counters;

  PacketCheck(MemorySegment memory, IcrcCheck mode, LinkCounters counters) {
    this.memory = memory;
    this.mode = mode;
    this.counters = counters;
    calculator = new IcrcCalculator(memory);
  }

  /**
   * Checks a packet whose IPv4 identification is not known. The likely one is looked at first, which saves recovering
   * it; under {@link IcrcCheck#STRICT} it does not count.
   *
   * @return the identification, {@link ReceivedPacket#UNKNOWN}, or {@link #REFUSED}
   */
  int check(
      int offset, int length, long sourceHi, long sourceLo, int sourcePort, long destinationHi, long destinationLo,
      int destinationPort, int likelyIdentification) {
    if (mode == IcrcCheck.OFF) {
      counters.increment(LinkCounter.ICRC_UNCHECKED);
      return ReceivedPacket.UNKNOWN;
    }
    int received = Icrc.read(memory, offset + length);
    if (!Gid.isIpv4Mapped(destinationHi, destinationLo)) {
      int computed =
          calculator.ipv6(
              sourceHi, sourceLo, destinationHi, destinationLo, sourcePort, destinationPort, offset, length);
      return outcome(computed == received, ReceivedPacket.UNKNOWN);
    }
    int likely = mode == IcrcCheck.STRICT ? 0 : likelyIdentification;
    int computed = ipv4(offset, length, sourceLo, sourcePort, destinationLo, destinationPort, likely);
    if (computed == received || mode == IcrcCheck.STRICT) {
      return outcome(computed == received, likely);
    }
    // The CRC is linear: what is found is how the identification differs from the likely one.
    int difference = IcrcIdentification.recover(computed ^ received, length);
    if (difference < 0) {
      return outcome(false, 0);
    }
    counters.increment(LinkCounter.ICRC_RECOVERED);
    return likely ^ difference;
  }

  private int ipv4(
      int offset, int length, long sourceLo, int sourcePort, long destinationLo, int destinationPort,
      int identification) {
    return calculator.ipv4(
        (int) sourceLo, (int) destinationLo, identification, IcrcCalculator.DONT_FRAGMENT, sourcePort, destinationPort,
        offset, length);
  }

  private int outcome(boolean right, int identification) {
    counters.increment(right ? LinkCounter.ICRC_OK : LinkCounter.ICRC_FAILED);
    return right ? identification : REFUSED;
  }
}
