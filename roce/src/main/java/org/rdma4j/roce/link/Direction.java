package org.rdma4j.roce.link;

import java.util.SplittableRandom;
import org.rdma4j.roce.address.Gid;

/**
 * The way from one address to another in a {@link Fabric}: its faults, its own source of chance (so that what happens
 * in one direction does not depend on the traffic in others), and how far its queue reaches.
 */
final class Direction {
  private static final long GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15L;

  final Gid source;
  final Gid destination;
  final SplittableRandom random;
  FaultPlan plan;

  /** Packets handed to it so far. */
  long packets;

  /** Whether it is cut until somebody heals it. */
  boolean cut;

  /** When the last byte of the packets before has left. */
  long busyUntil = Long.MIN_VALUE;

  /** When the latest packet that keeps the order arrives. */
  long lastArrival = Long.MIN_VALUE;

  Direction(long seed, Gid source, Gid destination, FaultPlan plan) {
    this.source = source;
    this.destination = destination;
    this.plan = plan;
    long mixed = seed;
    for (long part : new long[] {source.hi(), source.lo(), destination.hi(), destination.lo()}) {
      mixed = (mixed ^ part) * GOLDEN_GAMMA;
      mixed ^= mixed >>> 32;
    }
    random = new SplittableRandom(mixed);
  }

  boolean happens(double chance) {
    // No draw where nothing depends on it: a plan without faults costs nothing.
    return chance > 0 && random.nextDouble() < chance;
  }
}
