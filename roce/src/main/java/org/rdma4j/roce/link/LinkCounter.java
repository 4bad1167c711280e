package org.rdma4j.roce.link;

/** The counters of a {@link Link}, each with its stable id and the label under which it is shown. */
public enum LinkCounter {
  /** Packets handed to the network. */
  PACKETS_SENT(0, "packets sent"),
  /** Bytes from BTH to pad of the packets handed to the network. */
  BYTES_SENT(1, "bytes sent"),
  /** Calls or bursts in which packets were handed to the network. */
  SEND_CALLS(2, "send calls"),
  /** Packets committed that were dropped because the network refused them for good. */
  SEND_ERRORS(3, "send errors"),
  /** Times that the network could not take more packets for the moment; nothing was lost. */
  SEND_BUSY(4, "send busy"),
  /** Packets delivered to the packet handler. */
  PACKETS_RECEIVED(5, "packets received"),
  /** Bytes from BTH to pad of the packets delivered to the packet handler. */
  BYTES_RECEIVED(6, "bytes received"),
  /** Calls or bursts in which packets were received. */
  RECEIVE_CALLS(7, "receive calls"),
  /** Packets whose ICRC was right: IPv6, or IPv4 with identification 0 or the packet's place in its burst. */
  ICRC_OK(8, "icrc ok"),
  /** IPv4 packets whose ICRC is right for some identification, which the socket does not show. */
  ICRC_RECOVERED(9, "icrc recovered"),
  /** Packets dropped because their ICRC was wrong. */
  ICRC_FAILED(10, "icrc failed"),
  /** Packets accepted without a look at the ICRC ({@link IcrcCheck#OFF}). */
  ICRC_UNCHECKED(11, "icrc unchecked"),
  /** Datagrams dropped because they were shorter than a BTH and an ICRC. */
  RUNTS(12, "runts"),
  /** Datagrams dropped because they were longer than the receive buffer. */
  TRUNCATED(13, "truncated"),
  /** Receive calls that reported an error, such as an ICMP message queued on the socket. */
  RECEIVE_ERRORS(14, "receive errors"),
  /** Packets that the network dropped by its fault plan or because the receiver had no room (in-memory links only). */
  NETWORK_DROPS(15, "network drops");

  private final int id;
  private final String label;

  LinkCounter(int id, String label) {
    this.id = id;
    this.label = label;
  }

  /**
   * Returns the number that stays the same in later versions.
   *
   * @return the id, from 0
   */
  public int id() {
    return id;
  }

  /**
   * Returns the name to show.
   *
   * @return the label, lower case words
   */
  public String label() {
    return label;
  }
}
