package org.rdma4j.benchmarks.speed;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.rdma4j.mlx5.ib.StandaloneConnectx;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** The same operations between two modelled cards on a network in memory: driver, PCI, card and engine. */
@State(Scope.Thread)
public class CardOperationBenchmark extends OperationBenchmark {
  private final Fabric fabric = new Fabric(1, Clock.SYSTEM);
  private int cards;

  /** For JMH. */
  public CardOperationBenchmark() {}

  @Override
  RdmaEnd end(Gid local, Gid remote) {
    StandaloneConnectx device = new StandaloneConnectx("card" + cards++, local, fabric);
    return new RdmaEnd(device, local, remote, 1, DEPTH, LARGE);
  }
}
