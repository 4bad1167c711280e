package org.rdma4j.roce.link;

import java.util.ArrayList;
import java.util.List;

/**
 * What happens to the packets of one direction of a {@link Fabric}; immutable, made from {@link #NONE} by adding one
 * fault at a time. All faults of a plan act independently of each other, in the order of the components. Chances are 0
 * (never) to 1 (always), for each packet.
 *
 * @param loss chance that a packet is lost
 * @param duplication chance that a packet arrives twice
 * @param corruption chance that one to three bits of a packet or its ICRC are flipped, which the receiver notices
 * @param reordering chance that a packet is held back for {@code reorderNanos}, so that later ones overtake it
 * @param reorderNanos how long a packet is held back, in nanoseconds, 0 or more
 * @param delayNanos time on the way, in nanoseconds, 0 or more
 * @param jitterNanos most nanoseconds that are added to the delay at random, 0 or more; order is kept
 * @param bytesPerSecond bandwidth: packets queue behind each other; 0 for no limit
 * @param outages when nothing passes
 */
public record FaultPlan(
    double loss,
    double duplication,
    double corruption,
    double reordering,
    long reorderNanos,
    long delayNanos,
    long jitterNanos,
    long bytesPerSecond,
    List<Outage> outages) {

  /** Every packet arrives at once, once and as it was sent. */
  public static final FaultPlan NONE = new FaultPlan(0, 0, 0, 0, 0, 0, 0, 0, List.of());

  /**
   * A time in which nothing passes.
   *
   * @param fromNanos first nanosecond of it, on the fabric's clock
   * @param untilNanos first nanosecond after it
   */
  public record Outage(long fromNanos, long untilNanos) {
    /**
     * Checks the order.
     *
     * @throws IllegalArgumentException when it ends before it starts
     */
    public Outage {
      if (untilNanos < fromNanos) {
        throw new IllegalArgumentException("outage from " + fromNanos + " ns ends before at " + untilNanos + " ns");
      }
    }
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException when a chance is not in 0 to 1 or a time or the bandwidth is negative
   */
  public FaultPlan {
    requireChance("loss", loss);
    requireChance("duplication", duplication);
    requireChance("corruption", corruption);
    requireChance("reordering", reordering);
    requireNotNegative("reorderNanos", reorderNanos);
    requireNotNegative("delayNanos", delayNanos);
    requireNotNegative("jitterNanos", jitterNanos);
    requireNotNegative("bytesPerSecond", bytesPerSecond);
    outages = List.copyOf(outages);
  }

  private static void requireChance(String name, double value) {
    if (!(value >= 0 && value <= 1)) {
      throw new IllegalArgumentException(name + " is " + value + ", allowed is 0 to 1");
    }
  }

  private static void requireNotNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " is " + value + ", allowed is 0 or more");
    }
  }

  /** Whether nothing passes at a time. */
  boolean isOutage(long time) {
    // No iterator: this runs for every packet.
    for (int i = 0; i < outages.size(); i++) {
      Outage outage = outages.get(i);
      if (time >= outage.fromNanos() && time < outage.untilNanos()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Sets how many packets are lost.
   *
   * @param chance 0 to 1
   * @return this plan with it
   */
  public FaultPlan withLoss(double chance) {
    return new FaultPlan(
        chance, duplication, corruption, reordering, reorderNanos, delayNanos, jitterNanos, bytesPerSecond, outages);
  }

  /**
   * Sets how many packets arrive twice.
   *
   * @param chance 0 to 1
   * @return this plan with it
   */
  public FaultPlan withDuplication(double chance) {
    return new FaultPlan(
        loss, chance, corruption, reordering, reorderNanos, delayNanos, jitterNanos, bytesPerSecond, outages);
  }

  /**
   * Sets how many packets are damaged.
   *
   * @param chance 0 to 1
   * @return this plan with it
   */
  public FaultPlan withCorruption(double chance) {
    return new FaultPlan(
        loss, duplication, chance, reordering, reorderNanos, delayNanos, jitterNanos, bytesPerSecond, outages);
  }

  /**
   * Sets how many packets are overtaken by later ones.
   *
   * @param chance 0 to 1
   * @param holdNanos how long such a packet is held back, in nanoseconds
   * @return this plan with it
   */
  public FaultPlan withReordering(double chance, long holdNanos) {
    return new FaultPlan(
        loss, duplication, corruption, chance, holdNanos, delayNanos, jitterNanos, bytesPerSecond, outages);
  }

  /**
   * Sets the time on the way.
   *
   * @param nanos the least delay, in nanoseconds
   * @param jitter most nanoseconds added at random
   * @return this plan with it
   */
  public FaultPlan withDelay(long nanos, long jitter) {
    return new FaultPlan(
        loss, duplication, corruption, reordering, reorderNanos, nanos, jitter, bytesPerSecond, outages);
  }

  /**
   * Sets the bandwidth.
   *
   * @param bytes bytes of IP packets per second, 0 for no limit
   * @return this plan with it
   */
  public FaultPlan withBandwidth(long bytes) {
    return new FaultPlan(
        loss, duplication, corruption, reordering, reorderNanos, delayNanos, jitterNanos, bytes, outages);
  }

  /**
   * Adds a time in which nothing passes.
   *
   * @param fromNanos first nanosecond of it, on the fabric's clock
   * @param untilNanos first nanosecond after it
   * @return this plan with it
   */
  public FaultPlan withOutage(long fromNanos, long untilNanos) {
    List<Outage> more = new ArrayList<>(outages);
    more.add(new Outage(fromNanos, untilNanos));
    return new FaultPlan(
        loss, duplication, corruption, reordering, reorderNanos, delayNanos, jitterNanos, bytesPerSecond, more);
  }
}
