package org.rdma4j.pci;

/**
 * An access of a card to host memory that the host did not allow: in hardware an unsupported request or a fault of the
 * IOMMU. Nothing was transferred, or only what lies before {@link #address()}.
 */
public final class DmaFault extends Exception {
  private static final long serialVersionUID = 1;

  /** What was wrong. */
  public enum Reason {
    /** No mapping covers the address, or its memory is gone. */
    UNMAPPED,
    /** The mapping does not allow this direction. */
    DIRECTION,
    /** The driver has not enabled bus mastering. */
    BUS_MASTER_OFF,
    /** The card has been pulled out. */
    GONE
  }

  private final long address;
  private final long length;
  private final boolean write;
  private final Reason reason;

  /**
   * Describes a fault.
   *
   * @param reason what was wrong
   * @param write whether the card wanted to write to host memory
   * @param address first DMA address that could not be reached
   * @param length bytes from there that were wanted
   */
  public DmaFault(Reason reason, boolean write, long address, long length) {
    super("DMA " + (write ? "write to" : "read of") + " 0x" + Long.toHexString(address) + "+" + length + ": " + reason);
    this.reason = reason;
    this.write = write;
    this.address = address;
    this.length = length;
  }

  /** {@return what was wrong} */
  public Reason reason() {
    return reason;
  }

  /** {@return whether the card wanted to write to host memory} */
  public boolean isWrite() {
    return write;
  }

  /** {@return first DMA address that could not be reached} */
  public long address() {
    return address;
  }

  /** {@return bytes from there that were wanted} */
  public long length() {
    return length;
  }
}
