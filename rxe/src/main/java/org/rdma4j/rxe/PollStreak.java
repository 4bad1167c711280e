package org.rdma4j.rxe;

/**
 * Tells who polls without end from who looks now and then: many polls that found nothing, in quick succession, and no
 * arming between them. A poller from whom others take the processor pauses too, so some pauses among many polls do not
 * count. A hint that several pollers may disturb each other in.
 */
final class PollStreak {
  private static final int LEAST = 64;
  private static final int PAUSE_COSTS = 8;
  private static final long PACE_NANOS = 50_000;

  private int empty;
  private boolean helps;
  private long last;

  /**
   * A poll has found nothing.
   *
   * @param now time in nanoseconds
   * @return whether that has gone on for so long that the poller should help
   */
  boolean goesOn(long now) {
    empty = now - last < PACE_NANOS ? Math.min(empty + 1, LEAST) : Math.max(empty - PAUSE_COSTS, 0);
    last = now;
    if (empty == LEAST) {
      helps = true;
    } else if (empty == 0) {
      helps = false;
    }
    return helps;
  }

  /** The poller has helped, which took its time. */
  void helped(long now) {
    last = now;
  }

  /** The poller is going to sleep; whether he had been helping. */
  boolean ends() {
    boolean helped = helps;
    empty = 0;
    helps = false;
    return helped;
  }
}
