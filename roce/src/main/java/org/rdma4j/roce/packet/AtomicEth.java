package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Atomic extended transport header of COMPARE_SWAP and FETCH_ADD (IBA volume 1, 9.3.4).
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
 * 12                      swap (or add) 63:32                      |
 *  +---------------------------------------------------------------+
 * 16                      swap (or add) 31:0                       |
 *  +---------------------------------------------------------------+
 * 20                        compare 63:32                          |
 *  +---------------------------------------------------------------+
 * 24                        compare 31:0                           |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class AtomicEth {

  /** Bytes of this header. */
  public static final int LENGTH = 28;

  private static final int ADDRESS = 0;
  private static final int RKEY = 8;
  private static final int SWAP_OR_ADD = 12;
  private static final int COMPARE = 20;

  private AtomicEth() {}

  /**
   * The remote virtual address.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the address, a multiple of 8 in a valid request
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
   * The value to swap in, or the value to add.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 64 bits
   */
  public static long swapOrAdd(MemorySegment packet, long offset) {
    return packet.get(Wire.LONG, offset + SWAP_OR_ADD);
  }

  /**
   * The value to compare with; not used by FETCH_ADD.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 64 bits
   */
  public static long compare(MemorySegment packet, long offset) {
    return packet.get(Wire.LONG, offset + COMPARE);
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param address remote virtual address
   * @param rkey remote key
   * @param swapOrAdd value to swap in, or to add
   * @param compare value to compare with, 0 for FETCH_ADD
   */
  public static void write(MemorySegment packet, long offset, long address, int rkey, long swapOrAdd, long compare) {
    packet.set(Wire.LONG, offset + ADDRESS, address);
    packet.set(Wire.INT, offset + RKEY, rkey);
    packet.set(Wire.LONG, offset + SWAP_OR_ADD, swapOrAdd);
    packet.set(Wire.LONG, offset + COMPARE, compare);
  }
}
