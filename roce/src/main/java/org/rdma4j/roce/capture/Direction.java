package org.rdma4j.roce.capture;

/** Which way a captured packet went, as pcapng's {@code epb_flags} say it. */
public enum Direction {
  /** Not known. */
  UNKNOWN,
  /** Received by the link. */
  INBOUND,
  /** Sent by the link. */
  OUTBOUND
}
