package org.rdma4j.tools.pci;

import static org.rdma4j.pci.PciRegisters.BAR0;
import static org.rdma4j.pci.PciRegisters.BASIC_SIZE;
import static org.rdma4j.pci.PciRegisters.CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.CAP_EXPRESS;
import static org.rdma4j.pci.PciRegisters.CAP_MSIX;
import static org.rdma4j.pci.PciRegisters.CAP_POWER;
import static org.rdma4j.pci.PciRegisters.CAP_VENDOR;
import static org.rdma4j.pci.PciRegisters.CLASS_CODE;
import static org.rdma4j.pci.PciRegisters.COMMAND;
import static org.rdma4j.pci.PciRegisters.COMMAND_MASTER;
import static org.rdma4j.pci.PciRegisters.COMMAND_MEMORY;
import static org.rdma4j.pci.PciRegisters.HEADER_END;
import static org.rdma4j.pci.PciRegisters.INTERRUPT_LINE;
import static org.rdma4j.pci.PciRegisters.MOST_CAPABILITIES;
import static org.rdma4j.pci.PciRegisters.MSIX_CONTROL;
import static org.rdma4j.pci.PciRegisters.MSIX_ENABLE;
import static org.rdma4j.pci.PciRegisters.MSIX_MASK_ALL;
import static org.rdma4j.pci.PciRegisters.REVISION;
import static org.rdma4j.pci.PciRegisters.SIZE;
import static org.rdma4j.pci.PciRegisters.STATUS;
import static org.rdma4j.pci.PciRegisters.STATUS_CAPABILITIES;

import java.io.PrintStream;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.PciFunction;

/** Prints a function as {@code lspci} does, from its configuration space. */
final class FunctionReport {
  private static final int LINE = 16;
  private static final int LATENCY_TIMER = 0x0d;
  private static final int[] DUMPED = {0, HEADER_END, HEADER_END, BASIC_SIZE, SIZE};
  private static final String[] SPEEDS = {"fast", "medium", "slow", "??"};
  private static final String[] SUFFIXES = {"", "K", "M", "G", "T"};
  private static final int KIBI = 1024;

  private final PrintStream out;
  private final Names names;
  private final boolean domains;
  private final boolean verbose;
  private final boolean drivers;
  private final int dump;

  /**
   * Says what is wanted.
   *
   * @param domains whether the domain is printed
   * @param verbose {@code -v}
   * @param drivers {@code -k}
   * @param dump how many {@code x} there were, 0 to 4
   */
  FunctionReport(PrintStream out, Names names, boolean domains, boolean verbose, boolean drivers, int dump) {
    this.out = out;
    this.names = names;
    this.domains = domains;
    this.verbose = verbose;
    this.drivers = drivers;
    this.dump = dump;
  }

  void print(PciFunction function) {
    head(function);
    if (verbose) {
      flags(function);
      function.bars().forEach((number, bar) -> region(function, number, bar));
      capabilities(function);
    }
    if (verbose || drivers) {
      function.driverName().ifPresent(driver -> out.printf("\tKernel driver in use: %s%n", driver));
    }
    if (dump > 0) {
      dump(function);
    }
    if (verbose || dump > 0) {
      out.println();
    }
  }

  private void head(PciFunction function) {
    String address = domains ? function.address().toString() : function.address().toShortString();
    out.printf(
        "%s %s: %s", address, names.ofClass(function.identity()), names.ofDevice(function.identity()));
    int revision = function.readConfig(REVISION, 1);
    if (revision != 0) {
      out.printf(" (rev %02x)", revision);
    }
    int programming = function.readConfig(CLASS_CODE, 1);
    if (verbose && programming != 0) {
      out.printf(" (prog-if %02x)", programming);
    }
    out.println();
    int vendor = function.identity().subsystemVendor();
    if ((verbose || drivers) && vendor != 0 && vendor != 0xffff) {
      out.printf("\tSubsystem: %s%n", names.ofSubsystem(function.identity()));
    }
  }

  private void flags(PciFunction function) {
    int command = function.readConfig(COMMAND, 2);
    boolean master = (command & COMMAND_MASTER) != 0;
    out.printf("\tFlags: %s%s devsel", master ? "bus master, " : "", SPEEDS[function.readConfig(STATUS, 2) >> 9 & 3]);
    if (master) {
      out.printf(", latency %d", function.readConfig(LATENCY_TIMER, 1));
    }
    int irq = function.readConfig(INTERRUPT_LINE, 1);
    if (irq != 0 && irq != 0xff) {
      out.printf(", IRQ %d", irq);
    }
    out.println();
  }

  private void region(PciFunction function, int number, BarLayout bar) {
    long address = function.readConfig(BAR0 + 4 * number, 4) & 0xffff_fff0L;
    if (bar.wide()) {
      address |= (long) function.readConfig(BAR0 + 4 * number + 4, 4) << 32;
    }
    boolean decodes = (function.readConfig(COMMAND, 2) & COMMAND_MEMORY) != 0;
    out.printf(
        "\tMemory at %08x (%s, %sprefetchable)%s%s%n",
        address, bar.wide() ? "64-bit" : "32-bit", bar.prefetchable() ? "" : "non-", decodes ? "" : " [disabled]",
        size(bar.size()));
  }

  private static String size(long bytes) {
    long left = bytes;
    int suffix = 0;
    while (suffix < SUFFIXES.length - 1 && left % KIBI == 0) {
      left /= KIBI;
      suffix++;
    }
    return " [size=" + left + SUFFIXES[suffix] + "]";
  }

  private void capabilities(PciFunction function) {
    if ((function.readConfig(STATUS, 2) & STATUS_CAPABILITIES) == 0) {
      return;
    }
    int at = function.readConfig(CAPABILITIES, 1) & ~3;
    for (int left = MOST_CAPABILITIES; at != 0 && left > 0; left--) {
      int head = function.readConfig(at, 2);
      if (head == 0xffff) {
        out.printf("\tCapabilities: [%02x] <chain broken>%n", at);
        return;
      }
      out.printf("\tCapabilities: [%02x] %s%n", at, capability(function, at, head & 0xff));
      at = head >> 8 & ~3;
    }
  }

  private static String capability(PciFunction function, int at, int id) {
    int word = function.readConfig(at + 2, 2);
    return switch (id) {
      case CAP_POWER -> "Power Management version " + (word & 7);
      case CAP_VENDOR -> "Vendor Specific Information: Len=%02x <?>".formatted(word & 0xff);
      case CAP_EXPRESS -> "Express %s, MSI %02x".formatted(expressType(word >> 4 & 0xf), word >> 9 & 0x1f);
      case CAP_MSIX -> {
        int control = function.readConfig(at + MSIX_CONTROL, 2);
        yield "MSI-X: Enable%s Count=%d Masked%s"
            .formatted(sign(control & MSIX_ENABLE), (control & 0x7ff) + 1, sign(control & MSIX_MASK_ALL));
      }
      default -> "Capability ID %#02x [%04x]".formatted(id, word);
    };
  }

  private static String expressType(int type) {
    return switch (type) {
      case 0 -> "Endpoint";
      case 1 -> "Legacy Endpoint";
      default -> "Unknown type " + type;
    };
  }

  private static String sign(int bits) {
    return bits == 0 ? "-" : "+";
  }

  private void dump(PciFunction function) {
    for (int at = 0; at < DUMPED[dump]; at++) {
      if (at % LINE == 0) {
        out.printf("%02x:", at);
      }
      out.printf(" %02x", function.readConfig(at, 1));
      if (at % LINE == LINE - 1) {
        out.println();
      }
    }
  }
}
