package org.rdma4j.ib.core.verbs;

/** Logical state of a port with the kernel's numbers ({@code enum ib_port_state}). */
public enum PortState {
  /** No change. */
  NOP("invalid state"),
  /** Down. */
  DOWN("PORT_DOWN"),
  /** Initialised, not configured. */
  INIT("PORT_INIT"),
  /** Configured, not active. */
  ARMED("PORT_ARMED"),
  /** Active. */
  ACTIVE("PORT_ACTIVE"),
  /** Active, link in recovery. */
  ACTIVE_DEFER("invalid state");

  private final String text;

  PortState(String text) {
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return the name {@code ibv_devinfo} prints} */
  public String text() {
    return text;
  }
}
