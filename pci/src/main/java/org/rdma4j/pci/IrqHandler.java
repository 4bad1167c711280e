package org.rdma4j.pci;

import org.osgi.annotation.versioning.ConsumerType;

/** What a driver does on an interrupt ({@code irq_handler_t}). */
@ConsumerType
@FunctionalInterface
public interface IrqHandler {
  /**
   * Runs on an interrupt thread of the host, never twice at once for one vector. Messages that arrive meanwhile make it
   * run once more. It must not block; an exception is logged and counted.
   *
   * @param vector the vector
   */
  void handle(int vector);
}
