package org.rdma4j.ib.core.verbs;

/** Transport service types with the kernel's numbers ({@code enum ib_qp_type}). */
public enum QpType {
  /** Subnet management interface, QP0; one a port. */
  SMI(0),
  /**
   * General services interface, QP1: datagrams with the Q_Key 0x80010000 whose P_Key each send chooses. There is one a
   * port, for who speaks for the whole port; the kernel keeps it to itself, and here it is not for user contexts.
   */
  GSI(1),
  /** Reliable connected. */
  RC(2),
  /** Unreliable connected. */
  UC(3),
  /** Unreliable datagram. */
  UD(4),
  /** Raw IPv6. */
  RAW_IPV6(5),
  /** Raw Ethertype. */
  RAW_ETHERTYPE(6),
  /** Raw packet. */
  RAW_PACKET(8),
  /** Initiator side of an extended reliable connection. */
  XRC_INI(9),
  /** Target side of an extended reliable connection. */
  XRC_TGT(10),
  /** Defined by the driver. */
  DRIVER(255);

  private final int number;

  QpType(int number) {
    this.number = number;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /** {@return true for RC, UC and both XRC types, which know their peer} */
  public boolean isConnected() {
    return this == RC || this == UC || this == XRC_INI || this == XRC_TGT;
  }

  /** {@return true for the types of which a port has one, SMI and GSI} */
  public boolean isManagement() {
    return this == SMI || this == GSI;
  }

  /** {@return true where the type has a send queue} */
  public boolean hasSendQueue() {
    return this != XRC_TGT;
  }

  /** {@return true where the type has a receive queue of its own or shares one} */
  public boolean hasReceiveQueue() {
    return this != XRC_INI && this != XRC_TGT;
  }
}
