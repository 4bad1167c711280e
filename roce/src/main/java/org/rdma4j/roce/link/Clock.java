package org.rdma4j.roce.link;

/**
 * Where a part that measures time gets it from, so that tests can move it by hand.
 *
 * <p>Only differences of two readings of the same clock mean something. Implementations may be read from any thread.
 */
@FunctionalInterface
public interface Clock {
  /** The real, monotonic clock of the machine ({@link System#nanoTime()}). */
  Clock SYSTEM = System::nanoTime;

  /**
   * Reads the clock.
   *
   * @return nanoseconds since an arbitrary origin; never goes back, may overflow
   */
  long nanoTime();
}
