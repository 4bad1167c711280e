package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * FLUSH extended transport header: how far a FLUSH goes and on what it works (IBA annex A19, memory placement
 * extensions; kernel {@code sw/rxe/rxe_hdr.h}). It stands between the BTH and the RETH.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------+---+-------+
 * 0|                     reserved                      |SEL|  PLT  |
 *  +---------------------------------------------------+---+-------+
 * </pre>
 */
public final class Feth {

  /** Bytes of this header. */
  public static final int LENGTH = 4;

  /** Placement type bit: what was written is visible to every reader of the memory. */
  public static final int GLOBAL = 1;

  /** Placement type bit: what was written survives the loss of power. */
  public static final int PERSISTENT = 2;

  /** Selectivity level: the range that the RETH names. */
  public static final int RANGE = 0;

  /** Selectivity level: the whole region of the key; address and length of the RETH are not looked at. */
  public static final int REGION = 1;

  private static final int PLACEMENT = 0xf;
  private static final int SELECTIVITY_SHIFT = 4;
  private static final int SELECTIVITY = 3;

  private Feth() {}

  /**
   * The placement type.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 4 bits, of which {@link #GLOBAL} and {@link #PERSISTENT} are defined
   */
  public static int placement(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset) & PLACEMENT;
  }

  /**
   * The selectivity level.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 2 bits, of which the values {@link #RANGE} and {@link #REGION} are defined
   */
  public static int selectivity(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset) >>> SELECTIVITY_SHIFT & SELECTIVITY;
  }

  /**
   * Writes the whole header.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param placement placement type, 4 bits
   * @param selectivity selectivity level, 2 bits
   */
  public static void write(MemorySegment packet, long offset, int placement, int selectivity) {
    packet.set(Wire.INT, offset, (selectivity & SELECTIVITY) << SELECTIVITY_SHIFT | placement & PLACEMENT);
  }
}
