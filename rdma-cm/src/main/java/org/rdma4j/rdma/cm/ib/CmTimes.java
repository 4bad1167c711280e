package org.rdma4j.rdma.cm.ib;

/** Times as messages carry them: 4.096 us times a power of two, 5 bits (kernel: {@code cm_convert_to_ms}). */
public final class CmTimes {
  private static final int MOST = 31;
  private static final int MILLISECOND = 8;

  private CmTimes() {}

  /** Milliseconds, at least 1; 4.096 us to the power of 8 count as one. */
  public static long milliseconds(int exponent) {
    return 1L << Math.max(exponent - MILLISECOND, 0);
  }

  /**
   * The local ACK timeout for a path, about twice its life time and the peer's delay (kernel: {@code cm_ack_timeout}).
   *
   * @param ackDelay exponent of what the peer takes to answer
   * @param lifeTime exponent of what a packet takes at most
   */
  static int ackTimeout(int ackDelay, int lifeTime) {
    int timeout = lifeTime + 1;
    if (timeout >= ackDelay) {
      timeout += ackDelay >= timeout - 1 ? 1 : 0;
    } else {
      timeout = ackDelay + (timeout >= ackDelay - 1 ? 1 : 0);
    }
    return Math.min(MOST, timeout);
  }
}
