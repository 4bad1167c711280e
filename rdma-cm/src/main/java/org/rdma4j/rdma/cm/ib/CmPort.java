package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.roce.address.Gid;

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

  /** {@return the first of its GIDs, by which peers may know it; zero when it has none} */
  Gid gid();

  /** {@return exponent of what this node takes to acknowledge} */
  int ackDelay();

  /** {@return the upper half of transaction ids that come back to this agent} */
  int highTransactionId();

  /** {@return the device, by whose identity listeners are told apart} */
  Object device();

  /** {@return its number on the device, from 1} */
  int number();

  /**
   * Where a P_Key of the port is.
   *
   * @param to with the P_Key
   * @return the slot in the port's table
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where the port has it not, ENODEV when the device is gone
   */
  int pkeyIndex(CmAddress to);

  /**
   * The way of packets.
   *
   * @return the address vector from the local GID to the remote one
   * @throws org.rdma4j.ib.core.verbs.VerbsException EADDRNOTAVAIL where the port has not the local GID, ENODEV when the
   *     device is gone
   */
  AhAttributes way(CmAddress to);

  /** {@return the messages of the port, by kind} */
  CmCounters counters();

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
