package org.rdma4j.pci.internal;

import static org.rdma4j.pci.PciRegisters.BAR0;
import static org.rdma4j.pci.PciRegisters.BARS;
import static org.rdma4j.pci.PciRegisters.BAR_FLAGS;
import static org.rdma4j.pci.PciRegisters.BAR_PREFETCHABLE;
import static org.rdma4j.pci.PciRegisters.BAR_WIDE;
import static org.rdma4j.pci.PciRegisters.CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.CAP_EXPRESS;
import static org.rdma4j.pci.PciRegisters.CAP_MSIX;
import static org.rdma4j.pci.PciRegisters.CAP_POWER;
import static org.rdma4j.pci.PciRegisters.CLASS_CODE;
import static org.rdma4j.pci.PciRegisters.COMMAND;
import static org.rdma4j.pci.PciRegisters.COMMAND_INTX_DISABLE;
import static org.rdma4j.pci.PciRegisters.COMMAND_MASTER;
import static org.rdma4j.pci.PciRegisters.COMMAND_MEMORY;
import static org.rdma4j.pci.PciRegisters.DEVICE_ID;
import static org.rdma4j.pci.PciRegisters.EXPRESS_CAN_RESET;
import static org.rdma4j.pci.PciRegisters.EXPRESS_DEVICE_CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.EXPRESS_DEVICE_CONTROL;
import static org.rdma4j.pci.PciRegisters.HEADER_TYPE;
import static org.rdma4j.pci.PciRegisters.INTERRUPT_LINE;
import static org.rdma4j.pci.PciRegisters.MSIX_CONTROL;
import static org.rdma4j.pci.PciRegisters.MSIX_ENABLE;
import static org.rdma4j.pci.PciRegisters.MSIX_ENTRY;
import static org.rdma4j.pci.PciRegisters.MSIX_MASK_ALL;
import static org.rdma4j.pci.PciRegisters.MSIX_PENDING;
import static org.rdma4j.pci.PciRegisters.MSIX_TABLE;
import static org.rdma4j.pci.PciRegisters.POWER_CONTROL;
import static org.rdma4j.pci.PciRegisters.POWER_STATE;
import static org.rdma4j.pci.PciRegisters.REVISION;
import static org.rdma4j.pci.PciRegisters.STATUS;
import static org.rdma4j.pci.PciRegisters.STATUS_CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.SUBSYSTEM_ID;
import static org.rdma4j.pci.PciRegisters.SUBSYSTEM_VENDOR_ID;
import static org.rdma4j.pci.PciRegisters.VENDOR_ID;

import java.util.Map;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciIdentity;
import org.rdma4j.pci.PciRegisters;

/**
 * Writes the configuration space of a card after power-on: type 0 header, PCI Express, MSI-X and power management
 * capabilities, at the places where ConnectX cards have them.
 */
final class ConfigLayout {
  static final int EXPRESS = 0x60;
  static final int MSIX = 0x9c;
  static final int POWER = 0x40;

  private static final int COMMAND_WRITABLE =
      COMMAND_MEMORY | COMMAND_MASTER | COMMAND_INTX_DISABLE | 0x140; // Parity and SERR reporting.
  private static final int STATUS_CLEARABLE = 0xf900;
  private static final int EXPRESS_ENDPOINT_VERSION_2 = 0x0002;
  private static final int PAYLOAD_512_EXTENDED_TAGS = 0x8022;
  private static final int DEVICE_CONTROL_RESET_VALUE = 0x2810;
  private static final int DEVICE_CONTROL_WRITABLE = 0x7fff;
  private static final int LINK_8GT_X16 = 0x0103;
  private static final int SPEEDS_TO_8GT = 0x0e;
  private static final int LINK_CONTROL_WRITABLE = 0x0140;
  private static final int POWER_VERSION_3 = 0x0003;
  private static final int NO_SOFT_RESET = 0x8;

  private ConfigLayout() {}

  static ConfigSpace of(PciCard card) {
    ConfigSpace config = new ConfigSpace();
    identify(config, card.identity());
    card.bars().forEach((number, bar) -> defineBar(config, card.bars(), number, bar));
    config.define(CAPABILITIES, 1, EXPRESS, 0);
    defineExpress(config, card.msix().isPresent() ? MSIX : POWER);
    card.msix().ifPresent(msix -> defineMsix(config, card.bars(), msix));
    config.define(POWER, 2, CAP_POWER, 0);
    config.define(POWER + 2, 2, POWER_VERSION_3, 0);
    config.define(POWER + POWER_CONTROL, 2, NO_SOFT_RESET, POWER_STATE);
    return config;
  }

  private static void identify(ConfigSpace config, PciIdentity identity) {
    config.define(VENDOR_ID, 2, identity.vendor(), 0);
    config.define(DEVICE_ID, 2, identity.device(), 0);
    config.define(COMMAND, 2, 0, COMMAND_WRITABLE);
    config.define(STATUS, 2, STATUS_CAPABILITIES, 0);
    config.defineClearable(STATUS, 2, STATUS_CLEARABLE);
    config.define(REVISION, 1, identity.revision(), 0);
    config.define(CLASS_CODE, 1, identity.classCode(), 0);
    config.define(CLASS_CODE + 1, 2, identity.classCode() >> 8, 0);
    config.define(HEADER_TYPE - 2, 1, 0, 0xff); // Cache line size.
    config.define(SUBSYSTEM_VENDOR_ID, 2, identity.subsystemVendor(), 0);
    config.define(SUBSYSTEM_ID, 2, identity.subsystem(), 0);
    config.define(INTERRUPT_LINE, 1, 0, 0xff);
  }

  private static void defineBar(ConfigSpace config, Map<Integer, BarLayout> all, int number, BarLayout bar) {
    int last = bar.wide() ? number + 1 : number;
    if (number < 0 || last >= BARS || (bar.wide() && all.containsKey(last))) {
      throw new PciException(
          PciErrno.EINVAL, "region " + number + ": allowed are 0 to 5, and the next one must be free when it is wide");
    }
    int flags = (bar.wide() ? BAR_WIDE : 0) | (bar.prefetchable() ? BAR_PREFETCHABLE : 0);
    long mask = -bar.size();
    config.define(BAR0 + 4 * number, 4, flags, (int) mask & ~BAR_FLAGS);
    if (bar.wide()) {
      config.define(BAR0 + 4 * last, 4, 0, (int) (mask >>> 32));
    }
  }

  private static void defineExpress(ConfigSpace config, int next) {
    config.define(EXPRESS, 2, CAP_EXPRESS | next << 8, 0);
    config.define(EXPRESS + 2, 2, EXPRESS_ENDPOINT_VERSION_2, 0);
    config.define(EXPRESS + EXPRESS_DEVICE_CAPABILITIES, 4, EXPRESS_CAN_RESET | PAYLOAD_512_EXTENDED_TAGS, 0);
    config.define(EXPRESS + EXPRESS_DEVICE_CONTROL, 2, DEVICE_CONTROL_RESET_VALUE, DEVICE_CONTROL_WRITABLE);
    config.defineClearable(EXPRESS + EXPRESS_DEVICE_CONTROL + 2, 2, 0xf);
    config.define(EXPRESS + 0x0c, 4, LINK_8GT_X16, 0);
    config.define(EXPRESS + 0x10, 2, 0, LINK_CONTROL_WRITABLE);
    config.define(EXPRESS + 0x12, 2, LINK_8GT_X16, 0);
    config.define(EXPRESS + 0x28, 2, 0, 0x1f);
    config.define(EXPRESS + 0x2c, 4, SPEEDS_TO_8GT, 0);
    config.define(EXPRESS + 0x30, 2, LINK_8GT_X16 & 0xf, 0xf);
  }

  private static void defineMsix(ConfigSpace config, Map<Integer, BarLayout> bars, MsixLayout msix) {
    inside(bars, msix.tableBar(), msix.tableOffset(), (long) msix.vectors() * MSIX_ENTRY);
    inside(bars, msix.pendingBar(), msix.pendingOffset(), MsixTable.pendingBytes(msix.vectors()));
    config.define(MSIX, 2, CAP_MSIX | POWER << 8, 0);
    config.define(MSIX + MSIX_CONTROL, 2, msix.vectors() - 1, MSIX_ENABLE | MSIX_MASK_ALL);
    config.define(MSIX + MSIX_TABLE, 4, (int) msix.tableOffset() | msix.tableBar(), 0);
    config.define(MSIX + MSIX_PENDING, 4, (int) msix.pendingOffset() | msix.pendingBar(), 0);
  }

  private static void inside(Map<Integer, BarLayout> bars, int number, long offset, long length) {
    BarLayout bar = bars.get(number);
    if (bar == null || offset < 0 || offset > bar.size() - length) {
      throw new PciException(
          PciErrno.EINVAL, "MSI-X: " + length + " bytes at " + offset + " do not lie in region " + number);
    }
  }

  /** Where a region is now, according to its registers. */
  static long barAddress(ConfigSpace config, int number, BarLayout bar) {
    long low = config.read(PciRegisters.BAR0 + 4 * number, 4) & ~BAR_FLAGS & 0xffff_ffffL;
    return bar.wide() ? low | (long) config.read(PciRegisters.BAR0 + 4 * number + 4, 4) << 32 : low;
  }

  /** Puts a region somewhere. */
  static void placeBar(ConfigSpace config, int number, BarLayout bar, long address) {
    config.write(PciRegisters.BAR0 + 4 * number, 4, (int) address);
    if (bar.wide()) {
      config.write(PciRegisters.BAR0 + 4 * number + 4, 4, (int) (address >>> 32));
    }
  }
}
