package org.rdma4j.rxe;

/**
 * Tells who polls without end from who looks now and then: many polls that found nothing, in quick succession, and no
 * arming between them. A hint that several pollers may disturb each other in.
 */
final class PollStreak {
  private static final int LEAST = 64;
  private static final long PACE_NANOS = 50_000;

  private int empty;
  private long last;

  /**
   * A poll has found nothing.
   *
   * @param now time in nanoseconds
   * @return whether that has gone on for so long that the poller should help
   */
  boolean goesOn(long now) {
    empty = now - last < PACE_NANOS ? Math.min(empty + 1, LEAST) : 0;
    last = now;
    return empty == LEAST;
  }

  /** The poller has helped, which took its time. */
  void helped(long now) {
    last = now;
  }

  /** The poller is going to sleep; whether he had been helping. */
  boolean ends() {
    boolean helped = empty == LEAST;
    empty = 0;
    return helped;
  }
}
