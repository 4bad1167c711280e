package org.rdma4j.roce.link;

/**
 * A clock that stands still until it is moved by hand. It starts at 0 and never goes back.
 *
 * <p>Moved by one thread, the one that drives the simulation; may be read by any.
 */
public final class VirtualClock implements Clock {
  private volatile long now;

  /** Makes a clock that shows 0. */
  public VirtualClock() {}

  @Override
  public long nanoTime() {
    return now;
  }

  /**
   * Moves the clock to a time.
   *
   * @param nanoTime the new time in nanoseconds
   * @throws IllegalArgumentException when that is before the time it shows
   */
  public void advanceTo(long nanoTime) {
    if (nanoTime < now) {
      throw new IllegalArgumentException("the clock shows " + now + " ns and cannot go back to " + nanoTime + " ns");
    }
    now = nanoTime;
  }

  /**
   * Moves the clock by a span.
   *
   * @param nanos how far, in nanoseconds, 0 or more
   * @throws IllegalArgumentException when it is negative
   */
  public void advanceBy(long nanos) {
    advanceTo(Math.addExact(now, nanos));
  }

  @Override
  public String toString() {
    return now + " ns";
  }
}
