package org.rdma4j.pci.internal;

import org.rdma4j.pci.PciTracer;

/** Who sees what passes, for all functions of a bus. */
final class Tracing {
  /** Nobody looks. It is there, and not null, so that its type is loaded: the compiler inlines no call without. */
  private static final PciTracer NOBODY = new PciTracer() {};

  private volatile PciTracer tracer = NOBODY;

  boolean isOn() {
    return tracer != NOBODY;
  }

  PciTracer tracer() {
    return tracer;
  }

  /** Null for nobody. */
  void tracer(PciTracer who) {
    tracer = who == null ? NOBODY : who;
  }
}
