package org.rdma4j.roce.simulation;

import java.util.List;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.roce.engine.XrcReceiveSource;

/** The shared receives of a port for the targets of extended reliable connections. */
final class SimXrcReceives implements XrcReceiveSource {
  private final SimReceives receives;
  private final SimPort port;
  private final List<SimQp> queuePairs;

  SimXrcReceives(SimReceives receives, SimPort port, List<SimQp> queuePairs) {
    this.receives = receives;
    this.port = port;
    this.queuePairs = queuePairs;
  }

  @Override
  public boolean take(ReceiveWork work) {
    return receives.take(work);
  }

  @Override
  public int protectionDomain() {
    return SimPort.PD;
  }

  /** Of two queue pairs of a number the later is there. */
  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    for (SimQp each : queuePairs.reversed()) {
      if (each.port == port && each.context.number() == completion.qpNumber) {
        each.completeReceive(completion, solicited);
        return;
      }
    }
    throw new AssertionError("received for a queue pair that is not there: " + completion.qpNumber);
  }
}
