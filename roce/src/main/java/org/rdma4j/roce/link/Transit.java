package org.rdma4j.roce.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A packet on its way through a {@link Fabric}; used again and again. */
final class Transit implements Comparable<Transit> {
  static final int MEMORY_SIZE = UdpLink.MAX_PACKET_LENGTH + PacketSeal.ICRC_LENGTH;

  final MemorySegment memory = Arena.ofAuto().allocate(MEMORY_SIZE, Long.BYTES);
  Direction direction;

  /** Which member of a group this copy is for; null for a packet to one address. */
  FabricLink member;

  int trafficClass;
  int hopLimit;
  int flowLabel;

  /** Bytes from BTH to ICRC. */
  int datagram;

  long arrival;

  /** Decides between packets that arrive at the same time. */
  long sequence;

  @Override
  public int compareTo(Transit other) {
    int byTime = Long.compare(arrival, other.arrival);
    return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
  }
}
