package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.core.CommandTracer;

/** Who sees commands now, for all cards of the driver. */
final class Tracing {
  private volatile CommandTracer tracer;

  /** Null for nobody. */
  CommandTracer tracer() {
    return tracer;
  }

  void tracer(CommandTracer who) {
    tracer = who;
  }
}
