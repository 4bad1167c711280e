package org.rdma4j.pci;

/** What a driver wants done after an error ({@code pci_ers_result_t}). */
public enum PciErrorResult {
  /** Nothing: the driver does not recover. */
  NONE,
  /** The function can go on without a reset. */
  CAN_RECOVER,
  /** The slot is to be reset. */
  NEED_RESET,
  /** The function is given up. */
  DISCONNECT,
  /** The function works again. */
  RECOVERED
}
