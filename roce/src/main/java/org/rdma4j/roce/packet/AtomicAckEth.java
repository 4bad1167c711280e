package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Atomic ACK extended transport header: the original 64 bits of the target, big-endian (IBA volume 1, 9.3.5.3).
 */
public final class AtomicAckEth {

  /** Bytes of this header. */
  public static final int LENGTH = 8;

  private AtomicAckEth() {}

  /**
   * The value in memory before the operation.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 64 bits
   */
  public static long original(MemorySegment packet, long offset) {
    return packet.get(Wire.LONG, offset);
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param original the value in memory before the operation
   */
  public static void write(MemorySegment packet, long offset, long original) {
    packet.set(Wire.LONG, offset, original);
  }
}
