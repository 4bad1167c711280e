package org.rdma4j.pci;

import java.util.Map;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/** A function as everybody may look at it ({@code /sys/bus/pci/devices}). Safe for any thread. */
@ProviderType
public interface PciFunction {
  /** {@return where it is} */
  PciAddress address();

  /** {@return what it says it is} */
  PciIdentity identity();

  /** {@return the driver that has it, or empty} */
  Optional<String> driverName();

  /** {@return whether it can be reached} */
  PciChannelState channelState();

  /**
   * {@return the memory regions by the number of their first base address register; where they lie is in configuration
   * space}
   */
  Map<Integer, BarLayout> bars();

  /**
   * Reads configuration space; all ones when the function is gone.
   *
   * @param offset 0 to 4095, a multiple of {@code width}
   * @param width 1, 2 or 4 bytes
   * @return the value, not negative for widths 1 and 2
   * @throws PciException EINVAL for another offset or width
   */
  int readConfig(int offset, int width);

  /**
   * Writes configuration space; bits that cannot be written keep their value.
   *
   * @param offset 0 to 4095, a multiple of {@code width}
   * @param width 1, 2 or 4 bytes
   * @param value the value; bits beyond the width do not count
   * @throws PciException EINVAL for another offset or width
   */
  void writeConfig(int offset, int width, int value);

  /**
   * Walks the list of capabilities ({@code pci_find_capability}).
   *
   * @param id capability id, as {@link PciRegisters#CAP_MSIX}
   * @return offset of the capability, or 0
   */
  default int findCapability(int id) {
    int at = readConfig(PciRegisters.CAPABILITIES, 1) & ~3;
    for (int left = PciRegisters.MOST_CAPABILITIES; at >= PciRegisters.HEADER_END && left > 0; left--) {
      int head = readConfig(at, 2);
      if ((head & 0xff) == id) {
        return at;
      }
      at = head >> 8 & ~3;
    }
    return 0;
  }
}
