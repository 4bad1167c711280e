package org.rdma4j.roce.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.rdma4j.roce.engine.WorkOpcode;

/** Failures that the test makes itself are made small, and are the same each time. */
class ReducerTest {
  /** Finds the READ wrong that ends after a packet was lost. */
  private static void plant(Simulation simulation) {
    simulation.inspector =
        op -> {
          if (op.opcode == WorkOpcode.RDMA_READ && simulation.network().lost() > 0) {
            throw new AssertionError("a READ after a loss");
          }
        };
  }

  @Test
  void leavesOnlyWhatIsNeeded() throws InterruptedException {
    FailedSimulation failure = new SimulationRunner(2, done -> {}, ReducerTest::plant).run(1, 1000).failure();
    assertTrue(failure.before().operations() > 10, failure::toString);
    assertTrue(failure.after().pairs() <= 2, failure::toString);
    assertTrue(failure.after().operations() * 5 < failure.before().operations(), failure::toString);
    assertTrue(failure.after().faults() <= failure.before().faults(), failure::toString);
    for (String part : new String[] {" RDMA_READ of", "LOSS of packet", "READ Request", "a READ after a loss",
        "./rdma simulate --seed " + failure.seed()}) {
      assertTrue(failure.toString().contains(part), () -> part + " is missing:\n" + failure);
    }
  }

  @Test
  void isTheSameEachTime() throws InterruptedException {
    FailedSimulation failure = new SimulationRunner(1, done -> {}, ReducerTest::plant).run(1, 1000).failure();
    assertEquals(failure, new SimulationRunner(3, done -> {}, ReducerTest::plant).run(1, 1000).failure());
    assertEquals(failure, new SimulationRunner(1, done -> {}, ReducerTest::plant).run(failure.seed(), 1).failure());
  }
}
