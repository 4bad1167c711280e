package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.device.PacketTracer;

/** Who sees packets now, of all cards of the bundle. */
final class Tracing {
  /** Nobody looks. It is there, and not null, so that its type is loaded: the compiler inlines no call without. */
  private static final PacketTracer NOBODY = (card, sent, memory, offset, length) -> {};

  private volatile PacketTracer tracer = NOBODY;

  boolean isOn() {
    return tracer != NOBODY;
  }

  PacketTracer tracer() {
    return tracer;
  }

  /** Null for nobody. */
  void tracer(PacketTracer who) {
    tracer = who == null ? NOBODY : who;
  }
}
