package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * ACK extended transport header (IBA volume 1, 9.3.5).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+-----------------------------------------------+
 * 0|   syndrome    |            message sequence number            |
 *  +---------------+-----------------------------------------------+
 * </pre>
 */
public final class Aeth {

  /** Bytes of this header. */
  public static final int LENGTH = 4;

  private Aeth() {}

  /**
   * The syndrome; see {@link Syndrome}.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 255
   */
  public static int syndrome(MemorySegment packet, long offset) {
    return packet.get(Wire.BYTE, offset) & 0xff;
  }

  /**
   * The number of messages the responder has completed, modulo 2^24.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 24 bits
   */
  public static int msn(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset) & Wire.LOW_24;
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param syndrome 0 to 255; see {@link Syndrome}
   * @param msn message sequence number, taken modulo 2^24
   */
  public static void write(MemorySegment packet, long offset, int syndrome, int msn) {
    packet.set(Wire.INT, offset, syndrome << 24 | msn & Wire.LOW_24);
  }
}
