package org.rdma4j.roce.engine;

/** Transport service of a queue pair (kernel: {@code enum ib_qp_type}). */
public enum QpKind {
  /** Reliable connection. */
  RC(0x00),
  /** Unreliable connection. */
  UC(0x20),
  /** Unreliable datagram. */
  UD(0x60),
  /** Initiator of an extended reliable connection: sends requests and has no receives. */
  XRC_INI(0xa0),
  /** Target of an extended reliable connection: executes requests, each for the shared receive queue it names. */
  XRC_TGT(0xa0),
  /** The general services queue pair, number 1: unreliable datagram with the well-known Q_Key. */
  GSI(0x60);

  private final int transport;

  QpKind(int transport) {
    this.transport = transport;
  }

  /** {@return the upper three bits of the packet opcodes of this service} */
  public int transport() {
    return transport;
  }

  /** {@return whether there is one peer, fixed by the queue pair's address vector} */
  public boolean isConnected() {
    return this == RC || this == UC || isExtended();
  }

  /** {@return whether requests are acknowledged, and sent again when they are not} */
  public boolean isReliable() {
    return this == RC || isExtended();
  }

  private boolean isExtended() {
    return this == XRC_INI || this == XRC_TGT;
  }

  /** Whether it takes responses ({@code true}) or requests. */
  boolean takes(boolean response) {
    return this != (response ? XRC_TGT : XRC_INI);
  }

  boolean isDatagram() {
    return this == UD || this == GSI;
  }
}
