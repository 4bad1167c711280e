package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Datagram extended transport header of UD (IBA volume 1, 9.3.2).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 * 0|                             Q_Key                             |
 *  +---------------+-----------------------------------------------+
 * 4|   reserved    |                   source QP                   |
 *  +---------------+-----------------------------------------------+
 * </pre>
 */
public final class Deth {

  /** Bytes of this header. */
  public static final int LENGTH = 8;

  private static final int QKEY = 0;
  private static final int SOURCE_QP = 4;

  private Deth() {}

  /**
   * The queue key that must match the receiving queue pair's.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the key, 32 bits
   */
  public static int qkey(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + QKEY);
  }

  /**
   * The number of the sending queue pair.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 24 bits
   */
  public static int sourceQp(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + SOURCE_QP) & Wire.LOW_24;
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param qkey queue key
   * @param sourceQp number of the sending queue pair, 24 bits
   */
  public static void write(MemorySegment packet, long offset, int qkey, int sourceQp) {
    packet.set(Wire.INT, offset + QKEY, qkey);
    packet.set(Wire.INT, offset + SOURCE_QP, sourceQp & Wire.LOW_24);
  }
}
