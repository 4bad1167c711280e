package org.rdma4j.roce.simulation;

import java.util.SplittableRandom;
import org.rdma4j.roce.engine.EngineConfig;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.QpSettings;
import org.rdma4j.roce.link.FaultPlan;

/** What a seed decides about a simulation as a whole. */
final class SimPlan {
  private static final int[] MTUS = {256, 512, 1024, 2048, 4096};
  private static final long MICRO = 1000;
  private static final long MILLI = 1000 * MICRO;

  /** P_Keys of both ports: full members, and a limited one. */
  static final int[] PKEYS = {0xffff, 0x8001, 0x0001, 0x9234};
  /** With another partition in the place of one. */
  static final int[] OTHER_PKEYS = {0xffff, 0x8002, 0x0001, 0x9234};
  private static final int LIMITED = 2;

  final FaultPlan faults;
  final EngineConfig config;
  final int pairs;
  /** Nothing is lost, doubled, damaged, cut off or overtaken. */
  final boolean perfect;
  /** What arrives, arrives once and in order. */
  final boolean keepsOrder;
  /** Chance that something is wrong with one request of a flow, or that a queue pair is stopped. */
  final boolean trouble;
  /** One of the queue pairs of a pair may be ready later than the other. */
  final boolean late;
  /** Receives are posted this rarely. */
  final double receiveChance;
  final boolean refusals;

  SimPlan(SplittableRandom random) {
    perfect = chance(random, 0.15);
    boolean reorders = !perfect && chance(random, 0.5);
    boolean doubles = !perfect && chance(random, 0.5);
    keepsOrder = !reorders && !doubles;
    FaultPlan plan = FaultPlan.NONE.withDelay(random.nextLong(20 * MICRO), random.nextLong(30 * MICRO));
    if (doubles) {
      plan = plan.withDuplication(pick(random, 0.01, 0.05, 0.3));
    }
    if (reorders) {
      plan = plan.withReordering(pick(random, 0.01, 0.05, 0.3), MICRO + random.nextLong(200 * MICRO));
    }
    if (!perfect && chance(random, 0.7)) {
      plan = plan.withLoss(pick(random, 0.002, 0.02, 0.1));
    }
    if (!perfect && chance(random, 0.3)) {
      plan = plan.withCorruption(pick(random, 0.01, 0.05));
    }
    if (!perfect && chance(random, 0.1)) {
      plan = plan.withBandwidth(50_000_000L << random.nextInt(6));
    }
    for (int outages = !perfect && chance(random, 0.2) ? 1 + random.nextInt(2) : 0; outages > 0; outages--) {
      long from = random.nextLong(10 * MILLI);
      plan = plan.withOutage(from, from + random.nextLong(20 * MILLI));
    }
    faults = plan;
    config =
        new EngineConfig(
            MTUS[2 + random.nextInt(3)], 0x80_0000, 8 << random.nextInt(5), 1 << random.nextInt(7),
            1 << random.nextInt(9), 1 << random.nextInt(7));
    pairs = 1 + random.nextInt(4);
    trouble = chance(random, 0.4);
    late = chance(random, 0.1);
    receiveChance = pick(random, 0.02, 0.3, 1);
    refusals = chance(random, 0.2);
  }

  /** Settings of a queue pair. */
  static void settings(SplittableRandom random, QpSettings settings, boolean lossy) {
    settings.access = SimMemory.ALL;
    settings.qkey = Simulation.QKEY;
    settings.timeout = 9 + random.nextInt(4);
    settings.retryCount = chance(random, 0.7) ? 7 : random.nextInt(lossy ? 1 : 0, 7);
    settings.rnrRetry = chance(random, 0.7) ? 7 : random.nextInt(7);
    settings.minRnrTimer = 1 + random.nextInt(12);
    settings.notifyDrained = true;
  }

  /** Index of the P_Key of both sides; one may be the limited member of the second. */
  static int pkeyIndex(SplittableRandom random) {
    int index = random.nextInt(4);
    return index == LIMITED ? 1 : index;
  }

  static int mtu(SplittableRandom random) {
    return MTUS[Math.min(random.nextInt(6), random.nextInt(5))];
  }

  /** The service of a pair; an initiator gets a target. */
  static QpKind kind(SplittableRandom random) {
    int draw = random.nextInt(10);
    return draw < 6 ? QpKind.RC : draw < 7 ? QpKind.XRC_INI : draw < 9 ? QpKind.UC : QpKind.UD;
  }

  /** Lengths are mostly small, often near multiples of the MTU, now and then long. */
  static int length(SplittableRandom random, int mtu, int max) {
    int draw = random.nextInt(100);
    int length =
        draw < 10 ? 0
            : draw < 45 ? random.nextInt(65)
            : draw < 75 ? mtu * (1 + random.nextInt(3)) + random.nextInt(-1, 2)
            : draw < 96 ? random.nextInt(5 * mtu) : random.nextInt(max + 1);
    return Math.min(length, max);
  }

  static boolean chance(SplittableRandom random, double probability) {
    return random.nextDouble() < probability;
  }

  private static double pick(SplittableRandom random, double... values) {
    return values[random.nextInt(values.length)];
  }

  @Override
  public String toString() {
    return "pairs " + pairs + (trouble ? ", trouble" : "") + (late ? ", late" : "") + ", receives " + receiveChance
        + (refusals ? ", refusals" : "") + ", " + faults + ", " + config;
  }
}
