package org.rdma4j.ib.core.verbs;

/** Physical state of a port with the kernel's numbers ({@code enum ib_port_phys_state}). */
public enum PortPhysState {
  /** No state change. */
  NOP("NOP"),
  /** Sleeping. */
  SLEEP("Sleep"),
  /** Looking for a partner. */
  POLLING("Polling"),
  /** Disabled. */
  DISABLED("Disabled"),
  /** Training. */
  PORT_CONFIGURATION_TRAINING("PortConfigurationTraining"),
  /** The link is up. */
  LINK_UP("LinkUp"),
  /** Recovering. */
  LINK_ERROR_RECOVERY("LinkErrorRecovery"),
  /** Under test. */
  PHY_TEST("PhyTest");

  private final String text;

  PortPhysState(String text) {
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return the text in sysfs' {@code phys_state}} */
  public String text() {
    return text;
  }
}
