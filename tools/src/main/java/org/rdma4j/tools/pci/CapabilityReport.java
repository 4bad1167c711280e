package org.rdma4j.tools.pci;

import static org.rdma4j.pci.PciRegisters.CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.CAP_EXPRESS;
import static org.rdma4j.pci.PciRegisters.CAP_MSIX;
import static org.rdma4j.pci.PciRegisters.CAP_POWER;
import static org.rdma4j.pci.PciRegisters.CAP_VENDOR;
import static org.rdma4j.pci.PciRegisters.MSIX_CONTROL;
import static org.rdma4j.pci.PciRegisters.MSIX_ENABLE;
import static org.rdma4j.pci.PciRegisters.MSIX_MASK_ALL;
import static org.rdma4j.pci.PciRegisters.MSIX_PENDING;
import static org.rdma4j.pci.PciRegisters.MSIX_TABLE;
import static org.rdma4j.pci.PciRegisters.POWER_CONTROL;
import static org.rdma4j.pci.PciRegisters.STATUS;
import static org.rdma4j.pci.PciRegisters.STATUS_CAPABILITIES;
import static org.rdma4j.tools.pci.Bits.sign;
import static org.rdma4j.tools.pci.Bits.signs;

import java.io.PrintStream;
import java.util.BitSet;
import org.rdma4j.pci.PciFunction;

/** The list of a function's capabilities, with one line for each ({@code -v}) or all its registers ({@code -vv}). */
final class CapabilityReport {
  private static final int[] AUXILIARY_MILLIAMPERES = {0, 55, 100, 160, 220, 270, 320, 375};
  private static final int BAR_NUMBER = 7;

  private final PciFunction function;
  private final boolean detailed;
  private final PrintStream out;

  CapabilityReport(PciFunction function, boolean detailed, PrintStream out) {
    this.function = function;
    this.detailed = detailed;
    this.out = out;
  }

  void print() {
    if ((function.readConfig(STATUS, 2) & STATUS_CAPABILITIES) == 0) {
      return;
    }
    BitSet seen = new BitSet();
    int at = function.readConfig(CAPABILITIES, 1) & ~3;
    while (at != 0) {
      int head = function.readConfig(at, 2);
      out.printf("\tCapabilities: [%02x] ", at);
      if ((head & 0xff) == 0xff) {
        out.println("<chain broken>");
        return;
      }
      if (seen.get(at)) {
        out.println("<chain looped>");
        return;
      }
      seen.set(at);
      capability(at, head & 0xff);
      at = head >> Byte.SIZE & ~3;
    }
  }

  private void capability(int at, int id) {
    int word = function.readConfig(at + 2, 2);
    switch (id) {
      case 0 -> out.println("Null");
      case CAP_POWER -> power(at, word);
      case CAP_VENDOR -> out.printf("Vendor Specific Information: Len=%02x <?>%n", word & 0xff);
      case CAP_EXPRESS -> express(at, word);
      case CAP_MSIX -> interrupts(at);
      default -> out.printf("Capability ID %#x [%04x]%n", id, word);
    }
  }

  private void power(int at, int word) {
    out.printf("Power Management version %d%n", word & 7);
    if (detailed) {
      out.printf(
          "\t\tFlags: %s AuxCurrent=%dmA PME(%s)%n",
          signs(word, "PMEClk:8 DSI:20 D1:200 D2:400"),
          AUXILIARY_MILLIAMPERES[word >> 6 & 7],
          signs(word, "D0:800 D1:1000 D2:2000 D3hot:4000 D3cold:8000").replace(' ', ','));
      int control = function.readConfig(at + POWER_CONTROL, 2);
      out.printf(
          "\t\tStatus: D%d NoSoftRst%c PME-Enable%c DSel=%d DScale=%d PME%c%n",
          control & 3, sign(control, 8), sign(control, 0x100), control >> 9 & 0xf, control >> 13 & 3,
          sign(control, 0x8000));
    }
  }

  private void express(int at, int flags) {
    String type =
        switch (flags >> 4 & 0xf) {
          case 0 -> "Endpoint";
          case 1 -> "Legacy Endpoint";
          default -> "Unknown type " + (flags >> 4 & 0xf);
        };
    String version = detailed ? "(v%d) ".formatted(flags & 0xf) : "";
    out.printf("Express %s%s, MSI %02x%n", version, type, flags >> 9 & 0x1f);
    if (detailed) {
      new ExpressReport(function, at, flags, out).print();
    }
  }

  private void interrupts(int at) {
    int control = function.readConfig(at + MSIX_CONTROL, 2);
    out.printf(
        "MSI-X: Enable%c Count=%d Masked%c%n",
        sign(control, MSIX_ENABLE), (control & 0x7ff) + 1, sign(control, MSIX_MASK_ALL));
    if (detailed) {
      place("Vector table", function.readConfig(at + MSIX_TABLE, 4));
      place("PBA", function.readConfig(at + MSIX_PENDING, 4));
    }
  }

  private void place(String what, int register) {
    out.printf("\t\t%s: BAR=%d offset=%08x%n", what, register & BAR_NUMBER, register & ~BAR_NUMBER);
  }
}
