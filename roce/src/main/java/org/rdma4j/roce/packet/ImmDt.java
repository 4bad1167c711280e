package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Immediate data: four bytes handed to the receiver's completion as they are (IBA volume 1, 9.3.6).
 */
public final class ImmDt {

  /** Bytes of this header. */
  public static final int LENGTH = 4;

  private ImmDt() {}

  /**
   * The immediate data.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the four bytes as a big-endian number
   */
  public static int value(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset);
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param value the four bytes as a big-endian number
   */
  public static void write(MemorySegment packet, long offset, int value) {
    packet.set(Wire.INT, offset, value);
  }
}
