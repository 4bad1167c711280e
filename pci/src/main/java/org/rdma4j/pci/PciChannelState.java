package org.rdma4j.pci;

/** Whether a function can be reached ({@code pci_channel_state_t}). */
public enum PciChannelState {
  /** All is well. */
  NORMAL,
  /** An error was reported; the function is not to be used until it has been reset. */
  FROZEN,
  /** The function is gone for good. */
  PERMANENT_FAILURE
}
