package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The invariant CRC after the pad: four bytes, least significant first (IBA volume 1, 7.8.1; RoCEv2 annex A17.3.3). See
 * {@link IcrcCalculator} for its value.
 */
public final class Icrc {

  /** Bytes of the ICRC in a packet. */
  public static final int LENGTH = 4;

  private static final ValueLayout.OfInt LE_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Icrc() {}

  /**
   * Reads the ICRC of a packet.
   *
   * @param packet the packet's memory
   * @param offset of the ICRC, right after the pad
   * @return the 32-bit value
   */
  public static int read(MemorySegment packet, long offset) {
    return packet.get(LE_INT, offset);
  }

  /**
   * Writes the ICRC of a packet.
   *
   * @param packet the packet's memory
   * @param offset of the ICRC, right after the pad
   * @param icrc the 32-bit value
   */
  public static void write(MemorySegment packet, long offset, int icrc) {
    packet.set(LE_INT, offset, icrc);
  }

  /**
   * Zero bytes that fill a payload to a multiple of four (IBA volume 1, 9.2.2, PadCnt).
   *
   * @param payloadLength bytes of payload, at least 0
   * @return 0 to 3
   */
  public static int padCount(int payloadLength) {
    return -payloadLength & 3;
  }
}
