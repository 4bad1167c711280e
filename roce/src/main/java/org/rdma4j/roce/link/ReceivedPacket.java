package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;

/**
 * A received packet as a link shows it: where its bytes lie and what the IP header said about it.
 *
 * <p>Mutable and used again for every packet of a link: nothing of it may be kept after {@link
 * PacketHandler#onPacket}. Not thread safe. Addresses are GIDs as two big-endian halves; an IPv4 address is an
 * IPv4-mapped GID ({@code ::ffff:a.b.c.d}).
 */
public final class ReceivedPacket {
  /** The value of a header field that the link has no means to see. */
  public static final int UNKNOWN = -1;

  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private long sourceHi;
  private long sourceLo;
  private long destinationHi;
  private long destinationLo;
  private int trafficClass = UNKNOWN;
  private int hopLimit = UNKNOWN;
  private int flowLabel = UNKNOWN;
  private int identification = UNKNOWN;

  /** Makes an empty packet; a link does this once. */
  public ReceivedPacket() {}

  /**
   * Returns the memory that holds the packet.
   *
   * @return the segment; the packet starts at {@link #offset()} in it
   */
  public MemorySegment buffer() {
    return buffer;
  }

  /**
   * Returns where the BTH starts.
   *
   * @return offset in bytes into {@link #buffer()}
   */
  public long offset() {
    return offset;
  }

  /**
   * Returns the length from the BTH to the end of the pad, without the ICRC.
   *
   * @return length in bytes, at least 12
   */
  public int length() {
    return length;
  }

  /**
   * Returns the upper half of the source GID.
   *
   * @return bytes 0 to 7, big-endian
   */
  public long sourceHi() {
    return sourceHi;
  }

  /**
   * Returns the lower half of the source GID.
   *
   * @return bytes 8 to 15, big-endian
   */
  public long sourceLo() {
    return sourceLo;
  }

  /**
   * Returns the upper half of the destination GID.
   *
   * @return bytes 0 to 7, big-endian
   */
  public long destinationHi() {
    return destinationHi;
  }

  /**
   * Returns the lower half of the destination GID.
   *
   * @return bytes 8 to 15, big-endian
   */
  public long destinationLo() {
    return destinationLo;
  }

  /**
   * Returns the IPv4 TOS or IPv6 traffic class.
   *
   * @return 0 to 255, or {@link #UNKNOWN}
   */
  public int trafficClass() {
    return trafficClass;
  }

  /**
   * Returns the IPv4 time to live or IPv6 hop limit.
   *
   * @return 0 to 255, or {@link #UNKNOWN}
   */
  public int hopLimit() {
    return hopLimit;
  }

  /**
   * Returns the IPv6 flow label.
   *
   * @return 0 to 0xfffff, or {@link #UNKNOWN} (always for IPv4)
   */
  public int flowLabel() {
    return flowLabel;
  }

  /**
   * Returns the IPv4 identification as it was recovered from the ICRC or read from the header.
   *
   * @return 0 to 0xffff, or {@link #UNKNOWN} (always for IPv6)
   */
  public int identification() {
    return identification;
  }

  /**
   * Points this object at a packet; for links.
   *
   * @param packetBuffer memory that holds the packet
   * @param packetOffset where the BTH starts, in bytes
   * @param packetLength length from BTH to the end of the pad, in bytes
   * @return this
   */
  public ReceivedPacket wrap(MemorySegment packetBuffer, long packetOffset, int packetLength) {
    buffer = packetBuffer;
    offset = packetOffset;
    length = packetLength;
    return this;
  }

  /**
   * Sets the source GID; for links.
   *
   * @param hi bytes 0 to 7, big-endian
   * @param lo bytes 8 to 15, big-endian
   * @return this
   */
  public ReceivedPacket source(long hi, long lo) {
    sourceHi = hi;
    sourceLo = lo;
    return this;
  }

  /**
   * Sets the destination GID; for links.
   *
   * @param hi bytes 0 to 7, big-endian
   * @param lo bytes 8 to 15, big-endian
   * @return this
   */
  public ReceivedPacket destination(long hi, long lo) {
    destinationHi = hi;
    destinationLo = lo;
    return this;
  }

  /**
   * Sets the remaining fields of the IP header; for links.
   *
   * @param newTrafficClass TOS or traffic class, or {@link #UNKNOWN}
   * @param newHopLimit time to live or hop limit, or {@link #UNKNOWN}
   * @param newFlowLabel IPv6 flow label, or {@link #UNKNOWN}
   * @param newIdentification IPv4 identification, or {@link #UNKNOWN}
   * @return this
   */
  public ReceivedPacket ip(int newTrafficClass, int newHopLimit, int newFlowLabel, int newIdentification) {
    trafficClass = newTrafficClass;
    hopLimit = newHopLimit;
    flowLabel = newFlowLabel;
    identification = newIdentification;
    return this;
  }
}
