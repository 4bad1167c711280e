package org.rdma4j.benchmarks.speed;

import java.util.List;

/** The modelled card on the fabric: the user, the engines of both cards, and the host's interrupts. */
class CardSteadyStateTest extends SteadyState {
  private static final int INTERRUPT_THREADS = 2 * Math.min(8, Runtime.getRuntime().availableProcessors());

  CardSteadyStateTest() {
    super(new CardOperationBenchmark(), List.of("mlx5-card", "pci-irq/"), 2 + INTERRUPT_THREADS);
  }
}
