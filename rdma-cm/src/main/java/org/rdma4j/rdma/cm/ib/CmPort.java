package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;

/** How messages of a port leave: its MAD agent (kernel: {@code struct cm_port}). */
public interface CmPort {
  /** A message that waits for its answer. */
  interface Outstanding {
    /** No answer is wanted any more: neither sent again nor reported. */
    void cancel();

    /** Another wait from now on, in milliseconds. */
    void extend(long milliseconds);
  }

  /** {@return GUID of the node, which peers know connections by} */
  long nodeGuid();

  /** {@return exponent of what this node takes to acknowledge} */
  int ackDelay();

  /** {@return the upper half of transaction ids that come back to this agent} */
  int highTransactionId();

  /** {@return the device, by whose identity listeners are told apart} */
  Object device();

  /**
   * Sends a message that nobody answers, or for whose answer nobody waits.
   *
   * @param mad 256 bytes, copied before the call returns
   * @throws org.rdma4j.ib.core.verbs.VerbsException when it cannot leave
   */
  void send(MemorySegment mad, CmAddress to);

  /**
   * Sends a message until it is cancelled or was tried often enough.
   *
   * @param mad 256 bytes, copied before the call returns
   * @param milliseconds between tries
   * @param retries after the first try
   * @param exhausted is run, by the manager's own thread, when there was no answer to the last try
   * @throws org.rdma4j.ib.core.verbs.VerbsException when it cannot leave
   */
  Outstanding send(MemorySegment mad, CmAddress to, long milliseconds, int retries, Runnable exhausted);
}
