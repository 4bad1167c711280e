package org.rdma4j.roce.packet;

/** Arithmetic of 24-bit packet and message sequence numbers, which wrap around (IBA volume 1, 9.7.1). */
public final class Psn {

  /** The bits of a sequence number. */
  public static final int MASK = 0xff_ffff;

  private Psn() {}

  /**
   * The sequence number some packets later or earlier.
   *
   * @param psn a sequence number; higher bits are ignored
   * @param packets how many later, negative for earlier
   * @return 0 to {@link #MASK}
   */
  public static int add(int psn, int packets) {
    return psn + packets & MASK;
  }

  /**
   * Compares two numbers on the circle: their difference as a signed 24-bit number (kernel sw/rxe/rxe_verbs.h,
   * psn_compare).
   *
   * @param a a sequence number; higher bits are ignored
   * @param b another
   * @return above 0 when a is after b, 0 when equal, below 0 when a is before b; -2^23 to 2^23 - 1
   */
  public static int compare(int a, int b) {
    return (a - b) << 8 >> 8;
  }

  /**
   * Packets from one number forward to another.
   *
   * @param from a sequence number; higher bits are ignored
   * @param to another, at or after it on the circle
   * @return 0 to {@link #MASK}
   */
  public static int distance(int from, int to) {
    return to - from & MASK;
  }
}
