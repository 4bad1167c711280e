package org.rdma4j.roce.link;

/**
 * How a link treats the ICRC of a received packet when it cannot see the IPv4 identification, which the ICRC covers.
 *
 * <p>IPv6 packets are checked in full under {@link #STRICT} and {@link #RECOVER}.
 */
public enum IcrcCheck {
  /**
   * Only packets whose ICRC is right for identification 0. Refuses the IPv4 packets of senders that number them, as
   * Linux {@code rdma_rxe} does, and {@link UdpLink} with segmentation for all but the first of a burst.
   */
  STRICT,
  /**
   * Also packets whose ICRC is right for any of the 65536 identifications; one damaged packet in about 65536 is taken
   * for a good one. The default.
   */
  RECOVER,
  /** All packets. */
  OFF
}
