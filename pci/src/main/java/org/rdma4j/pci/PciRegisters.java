package org.rdma4j.pci;

/**
 * Offsets and bits of configuration space (PCI local bus specification 3.0 chapter 6, PCI Express base specification
 * chapter 7; kernel: {@code pci_regs.h}).
 */
public final class PciRegisters {
  /** Bytes of configuration space, with the extended part. */
  public static final int SIZE = 4096;

  /** Bytes that every function has. */
  public static final int BASIC_SIZE = 256;

  /** Vendor id, 2 bytes. */
  public static final int VENDOR_ID = 0x00;

  /** Device id, 2 bytes. */
  public static final int DEVICE_ID = 0x02;

  /** Command register, 2 bytes. */
  public static final int COMMAND = 0x04;

  /** Command: answers to memory accesses. */
  public static final int COMMAND_MEMORY = 0x2;

  /** Command: may use DMA and send messages. */
  public static final int COMMAND_MASTER = 0x4;

  /** Command: does not use interrupt pins. */
  public static final int COMMAND_INTX_DISABLE = 0x400;

  /** Status register, 2 bytes. */
  public static final int STATUS = 0x06;

  /** Status: there is a list of capabilities. */
  public static final int STATUS_CAPABILITIES = 0x10;

  /** Status: the function got a master abort; written with 1 it is cleared. */
  public static final int STATUS_RECEIVED_MASTER_ABORT = 0x2000;

  /** Revision, 1 byte. */
  public static final int REVISION = 0x08;

  /** Class code, 3 bytes. */
  public static final int CLASS_CODE = 0x09;

  /** Header type, 1 byte; 0 is an ordinary function. */
  public static final int HEADER_TYPE = 0x0e;

  /** First of six base address registers, 4 bytes each. */
  public static final int BAR0 = 0x10;

  /** Base address registers. */
  public static final int BARS = 6;

  /** Base address register: 64 bits wide. */
  public static final int BAR_WIDE = 0x4;

  /** Base address register: prefetchable. */
  public static final int BAR_PREFETCHABLE = 0x8;

  /** Base address register: bits that are not address. */
  public static final int BAR_FLAGS = 0xf;

  /** Subsystem vendor id, 2 bytes. */
  public static final int SUBSYSTEM_VENDOR_ID = 0x2c;

  /** Subsystem id, 2 bytes. */
  public static final int SUBSYSTEM_ID = 0x2e;

  /** Offset of the first capability, 1 byte. */
  public static final int CAPABILITIES = 0x34;

  /** Interrupt line, 1 byte. */
  public static final int INTERRUPT_LINE = 0x3c;

  /** First byte behind the header: where capabilities may be. */
  public static final int HEADER_END = 0x40;

  /** As many capabilities as fit. */
  public static final int MOST_CAPABILITIES = 48;

  /** Capability: power management. */
  public static final int CAP_POWER = 0x01;

  /** Capability: specific to the vendor. */
  public static final int CAP_VENDOR = 0x09;

  /** Capability: PCI Express. */
  public static final int CAP_EXPRESS = 0x10;

  /** Capability: MSI-X. */
  public static final int CAP_MSIX = 0x11;

  /** Power management: control and status register, in the capability. */
  public static final int POWER_CONTROL = 4;

  /** Power management: bits of the state, D0 to D3hot. */
  public static final int POWER_STATE = 0x3;

  /** PCI Express: device capabilities register, in the capability. */
  public static final int EXPRESS_DEVICE_CAPABILITIES = 4;

  /** Device capabilities: function-level reset. */
  public static final int EXPRESS_CAN_RESET = 1 << 28;

  /** PCI Express: device control register, in the capability. */
  public static final int EXPRESS_DEVICE_CONTROL = 8;

  /** Device control: start a function-level reset; reads as 0. */
  public static final int EXPRESS_RESET = 0x8000;

  /** MSI-X: message control register, in the capability. */
  public static final int MSIX_CONTROL = 2;

  /** MSI-X: table offset and region, in the capability. */
  public static final int MSIX_TABLE = 4;

  /** MSI-X: offset and region of the pending bits, in the capability. */
  public static final int MSIX_PENDING = 8;

  /** Message control: on. */
  public static final int MSIX_ENABLE = 0x8000;

  /** Message control: all vectors masked. */
  public static final int MSIX_MASK_ALL = 0x4000;

  /** Bytes of an entry of the MSI-X table: address (8), data (4), vector control (4). */
  public static final int MSIX_ENTRY = 16;

  /** Vector control: masked. */
  public static final int MSIX_MASKED = 1;

  private PciRegisters() {}
}
