package org.rdma4j.roce.engine;

import java.time.Duration;
import java.util.Objects;

/**
 * What the thread of an engine does while there is nothing to do.
 *
 * @param mode whether it ever sleeps
 * @param polling how long it polls before it sleeps, not negative; counts with {@link Mode#BACK_OFF} only
 */
public record IdleStrategy(Mode mode, Duration polling) {
  /** Whether a thread without work polls or sleeps. */
  public enum Mode {
    /**
     * It polls without end and takes a processor for itself. Users who poll do not drive the engine then: the thread
     * does. For machines with a processor to spare for each device.
     */
    SPIN,
    /**
     * It polls for a while, leaving the processor to others who want it, then sleeps until something comes; to a user
     * who polls without end it leaves the engine ({@link EngineRunner#help}).
     */
    BACK_OFF,
    /** It sleeps at once; for the rest as {@link #BACK_OFF}. */
    BLOCK
  }

  /** Polls without end. */
  public static final IdleStrategy SPIN = new IdleStrategy(Mode.SPIN, Duration.ZERO);

  /** Sleeps at once. */
  public static final IdleStrategy BLOCK = new IdleStrategy(Mode.BLOCK, Duration.ZERO);

  /**
   * Polls for 20 us: long enough to catch the answer of a busy peer on the same host, too short to be seen as load.
   */
  public static final IdleStrategy DEFAULT = backOff(Duration.ofNanos(20_000));

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException when the time is negative
   */
  public IdleStrategy {
    Objects.requireNonNull(mode, "mode");
    if (polling.isNegative()) {
      throw new IllegalArgumentException("polling for " + polling + "; allowed is 0 or more");
    }
  }

  /**
   * {@return a strategy that polls for a while}
   *
   * @param polling how long, not negative
   */
  public static IdleStrategy backOff(Duration polling) {
    return new IdleStrategy(Mode.BACK_OFF, polling);
  }
}
