package org.rdma4j.rdma.cm;

/** What can happen to an identifier ({@code enum rdma_cm_event_type}, in its order). */
public enum RdmaCmEventType {
  /** The address is resolved and the identifier has a device. */
  ADDR_RESOLVED,
  /** The address could not be resolved. */
  ADDR_ERROR,
  /** The way to the address is known. */
  ROUTE_RESOLVED,
  /** There is no way to the address. */
  ROUTE_ERROR,
  /** Somebody wants a connection; the identifier is new. */
  CONNECT_REQUEST,
  /** The peer agrees; an identifier without queue pair must {@linkplain RdmaCmId#establish establish}. */
  CONNECT_RESPONSE,
  /** The connection could not be made for a reason on this side. */
  CONNECT_ERROR,
  /** The peer does not answer. */
  UNREACHABLE,
  /** The peer refuses; the status is the reason. */
  REJECTED,
  /** The connection is there. */
  ESTABLISHED,
  /** The connection is over. */
  DISCONNECTED,
  /** The device goes; nothing but {@link RdmaCmId#close} works any more. */
  DEVICE_REMOVAL,
  /** The multicast group is joined. */
  MULTICAST_JOIN,
  /** The multicast group could not be joined, or is lost. */
  MULTICAST_ERROR,
  /** The local address has moved to other hardware. */
  ADDR_CHANGE,
  /** No packet of the connection that was can come any more. */
  TIMEWAIT_EXIT;

  /** {@return the number that Linux has for it} */
  public int number() {
    return ordinal();
  }

  /** {@return the name as {@code rdma_event_str} gives it, such as {@code RDMA_CM_EVENT_ESTABLISHED}} */
  public String text() {
    return "RDMA_CM_EVENT_" + name();
  }
}
