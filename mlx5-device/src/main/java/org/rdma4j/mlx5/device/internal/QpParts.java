package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.roce.engine.QpKind;

/**
 * What a queue pair works with; fixed when it is made.
 *
 * @param kind transport service
 * @param isRegistrar whether it is the driver's own for memory registration
 * @param pd protection domain
 * @param xrcDomain XRC domain
 * @param uar page of its doorbells
 * @param sendQueue where sends complete
 * @param receiveQueue where receives complete
 * @param keys memory keys
 * @param queues shared receive queues
 * @param umr memory registration by work queue entries
 * @param capabilities what the driver has set
 * @param firmware the rest of the card
 */
record QpParts(
    QpKind kind,
    boolean isRegistrar,
    int pd,
    int xrcDomain,
    int uar,
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    MemoryKeys keys,
    SrqCommands queues,
    Umr umr,
    Capabilities capabilities,
    Surroundings firmware) {

  /** What a queue pair needs of the rest of the card. */
  interface Surroundings {
    /** An event for the driver. */
    void event(EventType type, int number);

    /** Something to be done after the present step of the engine. */
    void defer(Runnable action);
  }
}
