package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * XRC extended transport header: the shared receive queue that a request is for (IBA annex A14). It stands behind the
 * BTH of every request of an extended reliable connection.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+-----------------------------------------------+
 * 0|   reserved    |                    XRCSRQ                     |
 *  +---------------+-----------------------------------------------+
 * </pre>
 */
public final class Xrceth {

  /** Bytes of this header. */
  public static final int LENGTH = 4;

  private static final int MASK = 0xff_ffff;

  private Xrceth() {}

  /**
   * The number of the shared receive queue.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the number, 24 bits
   */
  public static int srq(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset) & MASK;
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param srq the number of the shared receive queue; cut to 24 bits
   */
  public static void write(MemorySegment packet, long offset, int srq) {
    packet.set(Wire.INT, offset, srq & MASK);
  }
}
