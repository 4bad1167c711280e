package org.rdma4j.roce.engine;

/**
 * States of a queue pair as the transport sees them; the order is that of the verbs states (kernel: {@code enum
 * ib_qp_state}, IBA specification section 10.3.1).
 */
public enum TransportState {
  /** Nothing is accepted, both queues are empty. */
  RESET,
  /** Receives may be posted; packets are dropped. */
  INIT,
  /** Requests of the peer are executed. */
  RTR,
  /** As RTR, and own requests are sent. */
  RTS,
  /** No new work request is begun; what was begun goes on to its end. */
  SQD,
  /** The send queue has failed (UC and UD): what is posted to it is flushed. The receive queue goes on. */
  SQE,
  /** Everything posted completes as flushed; packets are dropped. */
  ERR;

  /** {@return whether requests of the peer are executed in this state} */
  boolean receives() {
    return this == RTR || this == RTS || this == SQD || this == SQE;
  }

  /** {@return whether responses to own requests are taken in this state} */
  boolean sends() {
    return this == RTS || this == SQD;
  }
}
