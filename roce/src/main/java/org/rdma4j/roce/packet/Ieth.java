package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Invalidate extended transport header: the R_Key that a SEND invalidates at the receiver (IBA volume 1, 9.3.7).
 */
public final class Ieth {

  /** Bytes of this header. */
  public static final int LENGTH = 4;

  private Ieth() {}

  /**
   * The key to invalidate.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the key, 32 bits
   */
  public static int rkey(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset);
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param rkey the key to invalidate
   */
  public static void write(MemorySegment packet, long offset, int rkey) {
    packet.set(Wire.INT, offset, rkey);
  }
}
