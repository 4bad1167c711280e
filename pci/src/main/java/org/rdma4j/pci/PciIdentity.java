package org.rdma4j.pci;

/**
 * What a function says it is, in the read-only head of its configuration space, and the words for it (those of {@code
 * pci.ids}, which the host does not have).
 *
 * @param vendor vendor id, 0 to 0xfffe
 * @param device device id, 0 to 0xffff
 * @param subsystemVendor subsystem vendor id
 * @param subsystem subsystem id
 * @param classCode base class, sub-class and programming interface, 24 bits: 0x020000 is an Ethernet controller
 * @param revision revision, 0 to 0xff
 * @param vendorName who made it
 * @param deviceName what it is
 */
public record PciIdentity(
    int vendor,
    int device,
    int subsystemVendor,
    int subsystem,
    int classCode,
    int revision,
    String vendorName,
    String deviceName) {

  /** Checks the ranges; EINVAL. */
  public PciIdentity {
    if ((vendor & ~0xffff) != 0 || vendor == 0xffff || (device & ~0xffff) != 0) {
      throw new PciException(
          PciErrno.EINVAL, "vendor 0x%x, device 0x%x: allowed are 0-fffe and 0-ffff".formatted(vendor, device));
    }
    if ((classCode & ~0xff_ffff) != 0 || (revision & ~0xff) != 0) {
      throw new PciException(
          PciErrno.EINVAL, "class 0x%x, revision 0x%x: allowed are 24 and 8 bits".formatted(classCode, revision));
    }
  }
}
