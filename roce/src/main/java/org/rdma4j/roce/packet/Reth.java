package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * RDMA extended transport header: where a WRITE or READ goes in the responder's memory (IBA volume 1, 9.3.3).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 * 0|                     virtual address 63:32                     |
 *  +---------------------------------------------------------------+
 * 4|                     virtual address 31:0                      |
 *  +---------------------------------------------------------------+
 * 8|                             R_Key                             |
 *  +---------------------------------------------------------------+
 * 12                          DMA length                           |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class Reth {

  /** Bytes of this header. */
  public static final int LENGTH = 16;

  private static final int ADDRESS = 0;
  private static final int RKEY = 8;
  private static final int DMA_LENGTH = 12;

  private Reth() {}

  /**
   * The remote virtual address.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the address, 64 bits
   */
  public static long address(MemorySegment packet, long offset) {
    return packet.get(Wire.LONG, offset + ADDRESS);
  }

  /**
   * The remote key.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the key, 32 bits
   */
  public static int rkey(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + RKEY);
  }

  /**
   * Bytes of the whole message.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 2^32 - 1
   */
  public static long length(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + DMA_LENGTH) & 0xffff_ffffL;
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param address remote virtual address
   * @param rkey remote key
   * @param length bytes of the whole message, 0 to 2^32 - 1
   */
  public static void write(MemorySegment packet, long offset, long address, int rkey, long length) {
    packet.set(Wire.LONG, offset + ADDRESS, address);
    packet.set(Wire.INT, offset + RKEY, rkey);
    packet.set(Wire.INT, offset + DMA_LENGTH, (int) length);
  }
}
