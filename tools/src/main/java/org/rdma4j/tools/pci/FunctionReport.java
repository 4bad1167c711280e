package org.rdma4j.tools.pci;

import static org.rdma4j.pci.PciRegisters.BAR0;
import static org.rdma4j.pci.PciRegisters.BASIC_SIZE;
import static org.rdma4j.pci.PciRegisters.CLASS_CODE;
import static org.rdma4j.pci.PciRegisters.COMMAND;
import static org.rdma4j.pci.PciRegisters.COMMAND_MASTER;
import static org.rdma4j.pci.PciRegisters.COMMAND_MEMORY;
import static org.rdma4j.pci.PciRegisters.HEADER_END;
import static org.rdma4j.pci.PciRegisters.INTERRUPT_LINE;
import static org.rdma4j.pci.PciRegisters.REVISION;
import static org.rdma4j.pci.PciRegisters.SIZE;
import static org.rdma4j.pci.PciRegisters.STATUS;
import static org.rdma4j.tools.pci.Bits.signs;

import java.io.PrintStream;
import java.util.Optional;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.PciFunction;

/** Prints a function as {@code lspci} does, from its configuration space. */
final class FunctionReport {
  private static final int LINE = 16;
  private static final int COMMAND_FAST_BACK = 0x200;
  private static final int STATUS_66_MHZ = 0x20;
  private static final int STATUS_USER_FEATURES = 0x40;
  private static final int CACHE_LINE = 0x0c;
  private static final int LATENCY_TIMER = 0x0d;
  private static final int INTERRUPT_PIN = 0x3d;
  private static final int MINIMUM_GRANT = 0x3e;
  private static final int MAXIMUM_LATENCY = 0x3f;
  private static final int GRANT_NANOSECONDS = 250;
  private static final int[] DUMPED = {0, HEADER_END, HEADER_END, BASIC_SIZE, SIZE};
  private static final String[] SPEEDS = {"fast", "medium", "slow", "??"};
  private static final String[] SUFFIXES = {"", "K", "M", "G", "T"};
  private static final int KIBI = 1024;

  private final PrintStream out;
  private final Names names;
  private final boolean domains;
  private final int verbose;
  private final boolean drivers;
  private final int dump;

  /**
   * Says what is wanted.
   *
   * @param domains whether the domain is printed
   * @param verbose how many {@code v} there were
   * @param drivers {@code -k}
   * @param dump how many {@code x} there were, 0 to 4
   */
  FunctionReport(PrintStream out, Names names, boolean domains, int verbose, boolean drivers, int dump) {
    this.out = out;
    this.names = names;
    this.domains = domains;
    this.verbose = verbose;
    this.drivers = drivers;
    this.dump = dump;
  }

  void print(PciFunction function) {
    head(function);
    if (verbose > 0) {
      if (verbose > 1) {
        control(function);
      } else {
        flags(function);
      }
      function.bars().forEach((number, bar) -> region(function, number, bar));
      new CapabilityReport(function, verbose > 1, out).print();
    }
    if (verbose > 0 || drivers) {
      function.driverName().ifPresent(driver -> out.printf("\tKernel driver in use: %s%n", driver));
    }
    if (dump > 0) {
      dump(function);
    }
    if (verbose > 0 || dump > 0) {
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
    Optional<String> words = names.ofProgramming(function.identity());
    if (verbose > 0 && (programming != 0 || words.isPresent())) {
      out.printf(" (prog-if %02x%s)", programming, words.map(text -> " [" + text + "]").orElse(""));
    }
    out.println();
    int vendor = function.identity().subsystemVendor();
    if ((verbose > 0 || drivers) && vendor != 0 && vendor != 0xffff) {
      out.printf("\tSubsystem: %s%n", names.ofSubsystem(function.identity()));
    }
  }

  private void flags(PciFunction function) {
    int command = function.readConfig(COMMAND, 2);
    boolean master = (command & COMMAND_MASTER) != 0;
    int status = function.readConfig(STATUS, 2);
    out.printf(
        "\tFlags: %s%s%s%s%s devsel",
        master ? "bus master, " : "",
        (command & COMMAND_FAST_BACK) != 0 ? "fast Back2Back, " : "",
        (status & STATUS_66_MHZ) != 0 ? "66MHz, " : "",
        (status & STATUS_USER_FEATURES) != 0 ? "user-definable features, " : "",
        SPEEDS[status >> 9 & 3]);
    if (master) {
      out.printf(", latency %d", function.readConfig(LATENCY_TIMER, 1));
    }
    int irq = function.readConfig(INTERRUPT_LINE, 1);
    if (irq != 0) {
      out.printf(", IRQ %d", irq);
    }
    out.println();
  }

  private void control(PciFunction function) {
    int command = function.readConfig(COMMAND, 2);
    out.printf(
        "\tControl: %s%n",
        signs(
            command,
            "I/O:1 Mem:2 BusMaster:4 SpecCycle:8 MemWINV:10 VGASnoop:20 ParErr:40 Stepping:80 SERR:100 FastB2B:200"
                + " DisINTx:400"));
    int status = function.readConfig(STATUS, 2);
    out.printf(
        "\tStatus: %s DEVSEL=%s %s%n",
        signs(status, "Cap:10 66MHz:20 UDF:40 FastB2B:80 ParErr:100"),
        SPEEDS[status >> 9 & 3],
        signs(status, ">TAbort:800 <TAbort:1000 <MAbort:2000 >SERR:4000 <PERR:8000 INTx:8"));
    if ((command & COMMAND_MASTER) != 0) {
      int line = function.readConfig(CACHE_LINE, 1) * 4;
      out.printf(
          "\tLatency: %d%s%s%n",
          function.readConfig(LATENCY_TIMER, 1),
          grants(function),
          line == 0 ? "" : ", Cache Line Size: " + line + " bytes");
    }
    int pin = function.readConfig(INTERRUPT_PIN, 1);
    int irq = function.readConfig(INTERRUPT_LINE, 1);
    if (pin != 0 || irq != 0) {
      out.printf("\tInterrupt: pin %c routed to IRQ %d%n", pin == 0 ? '?' : 'A' + pin - 1, irq);
    }
  }

  private static String grants(PciFunction function) {
    int least = function.readConfig(MINIMUM_GRANT, 1) * GRANT_NANOSECONDS;
    int most = function.readConfig(MAXIMUM_LATENCY, 1) * GRANT_NANOSECONDS;
    if (least == 0 && most == 0) {
      return "";
    }
    return " (%s%s%s)"
        .formatted(
            least == 0 ? "" : least + "ns min", least == 0 || most == 0 ? "" : ", ", most == 0 ? "" : most + "ns max");
  }

  private void region(PciFunction function, int number, BarLayout bar) {
    long address = function.readConfig(BAR0 + 4 * number, 4) & 0xffff_fff0L;
    if (bar.wide()) {
      address |= (long) function.readConfig(BAR0 + 4 * number + 4, 4) << 32;
    }
    boolean decodes = (function.readConfig(COMMAND, 2) & COMMAND_MEMORY) != 0;
    out.printf(
        "\t%s at %08x (%s, %sprefetchable)%s%s%n",
        verbose > 1 ? "Region " + number + ": Memory" : "Memory",
        address,
        bar.wide() ? "64-bit" : "32-bit",
        bar.prefetchable() ? "" : "non-",
        decodes ? "" : " [disabled]",
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
