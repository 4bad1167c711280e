package org.rdma4j.roce.simulation;

import org.junit.jupiter.api.Test;

/**
 * Many seeds of {@link Simulation}. {@code -Drdma.sim.seed=N} repeats one, {@code -Drdma.sim.seeds=N} runs so many,
 * {@code -Drdma.sim.first=N} begins elsewhere than at 1.
 */
class SimulationTest {
  private static final long SEEDS = 2500;

  @Test
  void everySeed() {
    Long one = Long.getLong("rdma.sim.seed");
    long first = one != null ? one : Long.getLong("rdma.sim.first", 1);
    long count = one != null ? 1 : Long.getLong("rdma.sim.seeds", SEEDS);
    var memory = new Simulation.Memory();
    for (long seed = first; seed < first + count; seed++) {
      new Simulation(seed, memory).run();
    }
  }
}
