package org.rdma4j.rdma.cm;

/** States of an identifier ({@code enum rdma_cm_state}, in its order). */
public enum RdmaCmState {
  /** New. */
  IDLE,
  /** Its address is being resolved. */
  ADDR_QUERY,
  /** Its address is resolved. */
  ADDR_RESOLVED,
  /** Its route is being resolved. */
  ROUTE_QUERY,
  /** Its route is resolved. */
  ROUTE_RESOLVED,
  /** A connection is being made or is there. */
  CONNECT,
  /** The connection is over. */
  DISCONNECT,
  /** It has a local address. */
  ADDR_BOUND,
  /** It listens. */
  LISTEN,
  /** Its device goes. */
  DEVICE_REMOVAL,
  /** It is destroyed. */
  DESTROYING;

  /** {@return the name as the {@code rdma} tool prints it} */
  public String text() {
    return name();
  }
}
