package org.rdma4j.ulp.rping;

/**
 * Where a connection is, with the numbers that messages show. Once connected it goes round {@link #RDMA_READ_ADV} to
 * {@link #RDMA_WRITE_COMPLETE}, once for each ping.
 */
enum RpingState {
  /** Nothing has happened. */
  IDLE,
  /** A peer wants to connect. */
  CONNECT_REQUEST,
  /** The device for the peer's address is known. */
  ADDR_RESOLVED,
  /** The path is known. */
  ROUTE_RESOLVED,
  /** The connection is there. */
  CONNECTED,
  /** The client has offered what is to be read. */
  RDMA_READ_ADV,
  /** The server has read it. */
  RDMA_READ_COMPLETE,
  /** The client has offered where to write. */
  RDMA_WRITE_ADV,
  /** The server has written there. */
  RDMA_WRITE_COMPLETE,
  /** The peer has ended the connection. */
  DISCONNECTED,
  /** Something failed. */
  ERROR;

  /** The number in messages. */
  int number() {
    return ordinal() + 1;
  }
}
