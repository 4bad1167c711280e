package org.rdma4j.benchmarks.speed;

import java.util.List;

/** The software provider over UDP: the user and both engines. */
class SteadyStateTest extends SteadyState {
  SteadyStateTest() {
    super(new OperationBenchmark(), List.of("rxe-"), 2);
  }
}
