package org.rdma4j.roce.engine;

/** Transport service of a queue pair (kernel: {@code enum ib_qp_type}). */
public enum QpKind {
  /** Reliable connection. */
  RC(0x00),
  /** Unreliable connection. */
  UC(0x20),
  /** Unreliable datagram. */
  UD(0x60),
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
    return this == RC || this == UC;
  }

  /** Whether requests are acknowledged, and sent again when they are not. */
  boolean isReliable() {
    return this == RC;
  }

  boolean isDatagram() {
    return this == UD || this == GSI;
  }
}
