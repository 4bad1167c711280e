package org.rdma4j.ib.core.verbs;

/** States of a queue pair with the kernel's numbers ({@code enum ib_qp_state}). */
public enum QpState {
  /** Nothing may be posted or received. */
  RESET,
  /** Receives may be posted. */
  INIT,
  /** Ready to receive. */
  RTR,
  /** Ready to send. */
  RTS,
  /** The send queue drains. */
  SQD,
  /** The send queue is in error; the receive side works on. */
  SQE,
  /** Both queues are flushed. */
  ERR;

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }
}
