package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Base transport header, the first header of every packet (IBA volume 1, 9.2; RoCEv2 annex A17.3.3).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+-+-+---+-------+-------------------------------+
 * 0|    opcode     |S|M|pad|version|             P_Key             |
 *  +-+-+-----------+-+-+---+-------+-------------------------------+
 * 4|F|B| reserved  |                destination QP                 |
 *  +-+-+-----------+-----------------------------------------------+
 * 8|A|  reserved   |            packet sequence number             |
 *  +-+-------------+-----------------------------------------------+
 * </pre>
 *
 * S solicited event, M migration request, F forward and B backward explicit congestion notification, A acknowledge
 * request. Byte 4 is left out of the ICRC.
 */
public final class Bth {

  /** Bytes of this header. */
  public static final int LENGTH = 12;

  /** Where the byte lies that the ICRC sees as ones: FECN, BECN and reserved bits. */
  static final int CONGESTION = 4;

  private static final int FLAGS = 1;
  private static final int PKEY = 2;
  private static final int DEST_QP = 4;
  private static final int PSN = 8;
  private static final int SOLICITED = 0x80;
  private static final int MIG_REQ = 0x40;
  private static final int FECN = 0x80;
  private static final int BECN = 0x40;
  private static final int ACK_REQ = 0x80;

  private Bth() {}

  /**
   * The opcode; see {@link Opcode}.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 255
   */
  public static int opcode(MemorySegment packet, long offset) {
    return packet.get(Wire.BYTE, offset) & 0xff;
  }

  /**
   * Whether the receiver is asked for a solicited event.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the S bit
   */
  public static boolean solicited(MemorySegment packet, long offset) {
    return (packet.get(Wire.BYTE, offset + FLAGS) & SOLICITED) != 0;
  }

  /**
   * The migration request bit; rxe sends 0 and ignores it.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the M bit
   */
  public static boolean migReq(MemorySegment packet, long offset) {
    return (packet.get(Wire.BYTE, offset + FLAGS) & MIG_REQ) != 0;
  }

  /**
   * Zero bytes after the payload that fill it to a multiple of four.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 3
   */
  public static int padCount(MemorySegment packet, long offset) {
    return packet.get(Wire.BYTE, offset + FLAGS) >> 4 & 3;
  }

  /**
   * The transport header version, 0 in a valid packet.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 15
   */
  public static int version(MemorySegment packet, long offset) {
    return packet.get(Wire.BYTE, offset + FLAGS) & 0xf;
  }

  /**
   * The partition key.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 0 to 65535
   */
  public static int pkey(MemorySegment packet, long offset) {
    return packet.get(Wire.SHORT, offset + PKEY) & 0xffff;
  }

  /**
   * Forward explicit congestion notification.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the F bit
   */
  public static boolean fecn(MemorySegment packet, long offset) {
    return (packet.get(Wire.BYTE, offset + CONGESTION) & FECN) != 0;
  }

  /**
   * Backward explicit congestion notification.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the B bit
   */
  public static boolean becn(MemorySegment packet, long offset) {
    return (packet.get(Wire.BYTE, offset + CONGESTION) & BECN) != 0;
  }

  /**
   * The number of the destination queue pair.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 24 bits
   */
  public static int destQp(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + DEST_QP) & Wire.LOW_24;
  }

  /**
   * Whether the responder is asked for an acknowledge packet.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return the A bit
   */
  public static boolean ackReq(MemorySegment packet, long offset) {
    return (packet.get(Wire.BYTE, offset + PSN) & ACK_REQ) != 0;
  }

  /**
   * The packet sequence number; see {@link Psn}.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @return 24 bits
   */
  public static int psn(MemorySegment packet, long offset) {
    return packet.get(Wire.INT, offset + PSN) & Wire.LOW_24;
  }

  /**
   * Writes the whole header with version 0 and without migration request and congestion bits, as rxe sends it.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param opcode 0 to 255; see {@link Opcode}
   * @param solicited the S bit
   * @param padCount 0 to 3
   * @param pkey partition key, 16 bits
   * @param destQp destination queue pair, 24 bits
   * @param ackReq the A bit
   * @param psn packet sequence number, taken modulo 2^24
   */
  public static void write(
      MemorySegment packet, long offset, int opcode, boolean solicited, int padCount, int pkey, int destQp,
      boolean ackReq, int psn) {
    int flags = (solicited ? SOLICITED : 0) | (padCount & 3) << 4;
    packet.set(Wire.INT, offset, opcode << 24 | flags << 16 | pkey & 0xffff);
    packet.set(Wire.INT, offset + DEST_QP, destQp & Wire.LOW_24);
    packet.set(Wire.INT, offset + PSN, (ackReq ? ACK_REQ << 24 : 0) | psn & Wire.LOW_24);
  }

  /**
   * Changes the migration request bit.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param on the new value
   */
  public static void setMigReq(MemorySegment packet, long offset, boolean on) {
    setBit(packet, offset + FLAGS, MIG_REQ, on);
  }

  /**
   * Changes the forward congestion bit.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param on the new value
   */
  public static void setFecn(MemorySegment packet, long offset, boolean on) {
    setBit(packet, offset + CONGESTION, FECN, on);
  }

  /**
   * Changes the backward congestion bit.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param on the new value
   */
  public static void setBecn(MemorySegment packet, long offset, boolean on) {
    setBit(packet, offset + CONGESTION, BECN, on);
  }

  /**
   * Changes the acknowledge request bit.
   *
   * @param packet the packet's memory
   * @param offset of this header
   * @param on the new value
   */
  public static void setAckReq(MemorySegment packet, long offset, boolean on) {
    setBit(packet, offset + PSN, ACK_REQ, on);
  }

  private static void setBit(MemorySegment packet, long at, int bit, boolean on) {
    int old = packet.get(Wire.BYTE, at);
    packet.set(Wire.BYTE, at, (byte) (on ? old | bit : old & ~bit));
  }
}
