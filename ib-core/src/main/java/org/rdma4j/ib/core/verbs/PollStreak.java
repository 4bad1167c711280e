package org.rdma4j.ib.core.verbs;

/**
 * For providers whose engine a poller may drive: tells who polls without end from who looks now and then, by many
 * polls that found nothing, in quick succession, and no arming between them. A poller from whom others take the
 * processor pauses too, so some pauses among many polls do not count. What is quick depends on the machine: it is told
 * by the quickest duty cycle of this poller. A hint that several pollers may disturb each other in.
 */
public final class PollStreak {
  private static final int LEAST = 64;
  private static final int PAUSE_COSTS = 8;
  private static final long PACE_NANOS = 50_000;

  /** Who takes that many times as long as a duty cycle without work does something else. */
  private static final long PACE_CYCLES = 32;

  private int empty;
  private boolean helps;
  private long last;
  private long pace = PACE_NANOS;
  private long quickest = Long.MAX_VALUE;

  /** Makes one for a queue that nobody has polled yet. */
  public PollStreak() {}

  /**
   * A poll has found nothing.
   *
   * @param now time in nanoseconds, of {@link System#nanoTime}
   * @return whether that has gone on for so long that the poller should help
   */
  public boolean goesOn(long now) {
    empty = now - last < pace ? Math.min(empty + 1, LEAST) : Math.max(empty - PAUSE_COSTS, 0);
    last = now;
    if (empty == LEAST) {
      helps = true;
    } else if (empty == 0) {
      ends();
    }
    return helps;
  }

  /**
   * The poller has helped, which took its time.
   *
   * @param now time in nanoseconds, after it
   */
  public void helped(long now) {
    quickest = Math.min(quickest, now - last);
    pace = Math.max(PACE_NANOS, PACE_CYCLES * quickest);
    last = now;
  }

  /**
   * The poller is going to sleep.
   *
   * @return whether he had been helping
   */
  public boolean ends() {
    boolean helped = helps;
    empty = 0;
    helps = false;
    pace = PACE_NANOS;
    quickest = Long.MAX_VALUE;
    return helped;
  }
}
