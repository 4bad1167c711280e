package org.rdma4j.roce.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/**
 * Many seeds of {@link Simulation}. {@code -Drdma.sim.seed=N} repeats one, {@code -Drdma.sim.seeds=N} runs so many,
 * {@code -Drdma.sim.first=N} begins elsewhere than at 1.
 */
class SimulationTest {
  private static final long SEEDS = 10_000;

  @Test
  void everySeed() throws InterruptedException {
    Long one = Long.getLong("rdma.sim.seed");
    long first = one != null ? one : Long.getLong("rdma.sim.first", 1);
    long count = one != null ? 1 : Long.getLong("rdma.sim.seeds", SEEDS);
    var runner = new SimulationRunner(Runtime.getRuntime().availableProcessors(), done -> {});
    SimulationRunner.Result result = runner.run(first, count);
    assertNull(result.failure());
    assertEquals(count, result.seeds());
  }
}
