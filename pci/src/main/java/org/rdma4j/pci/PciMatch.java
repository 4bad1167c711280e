package org.rdma4j.pci;

/**
 * A line of a driver's table of ids ({@code struct pci_device_id}).
 *
 * @param vendor vendor id
 * @param device device id, or {@link #ANY}
 */
public record PciMatch(int vendor, int device) {
  /** Matches every id. */
  public static final int ANY = -1;

  /**
   * Compares with a function.
   *
   * @param identity the function's ids
   * @return whether the driver wants it
   */
  public boolean matches(PciIdentity identity) {
    return (vendor == ANY || vendor == identity.vendor()) && (device == ANY || device == identity.device());
  }
}
