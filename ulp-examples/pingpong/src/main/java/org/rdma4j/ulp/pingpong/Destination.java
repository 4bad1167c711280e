package org.rdma4j.ulp.pingpong;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.rdma4j.roce.address.Gid;

/**
 * Where a queue pair can be reached, as it goes over TCP: {@code lid:qpn:psn:gid} in hexadecimal digits of fixed
 * width and a zero byte.
 *
 * @param lid the LID, 0 on Ethernet
 * @param qpNumber the queue pair, 24 bits
 * @param psn the first packet sequence number, 24 bits
 * @param gid the GID, zero where there is none
 */
record Destination(int lid, int qpNumber, int psn, Gid gid) {
  /** Bytes on the wire. */
  static final int LENGTH = 52;

  /** Stands for a queue pair that is not there. */
  static final Destination NONE = new Destination(0, 0, 0, Gid.ZERO);

  private static final int RADIX = 16;

  /** Appends the wire form. */
  void writeTo(ByteBuffer buffer) {
    String text = String.format("%04x:%06x:%06x:%016x%016x", lid, qpNumber, psn, gid.hi(), gid.lo());
    buffer.put(text.getBytes(StandardCharsets.US_ASCII)).put((byte) 0);
  }

  /**
   * Reads the wire form.
   *
   * @throws IllegalArgumentException where it is not one
   */
  static Destination readFrom(ByteBuffer buffer) {
    byte[] bytes = new byte[LENGTH];
    buffer.get(bytes);
    String text = new String(bytes, StandardCharsets.US_ASCII);
    int end = text.indexOf('\0');
    String[] fields = (end < 0 ? text : text.substring(0, end)).split(":", -1);
    if (fields.length != 4 || fields[3].length() != 2 * Gid.LENGTH) {
      throw new IllegalArgumentException("not an address: " + text.replace('\0', ' ').strip());
    }
    return new Destination(
        Integer.parseInt(fields[0], RADIX),
        Integer.parseInt(fields[1], RADIX),
        Integer.parseInt(fields[2], RADIX),
        new Gid(
            Long.parseUnsignedLong(fields[3], 0, RADIX, RADIX),
            Long.parseUnsignedLong(fields[3], RADIX, 2 * RADIX, RADIX)));
  }

  /** The line that both sides print, from the LID on. */
  String text(String beforeGid) {
    return String.format("LID 0x%04x, QPN 0x%06x, PSN 0x%06x%s GID %s", lid, qpNumber, psn, beforeGid, gid);
  }
}
