package org.rdma4j.tools.pci;

import static org.rdma4j.pci.PciRegisters.CLASS_CODE;
import static org.rdma4j.pci.PciRegisters.REVISION;

import java.io.PrintStream;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciIdentity;

/**
 * What programs read: {@code -m}, a line of quoted words, and {@code -vm} and {@code -vmm}, records of tagged lines.
 */
final class MachineReport {
  private final PrintStream out;
  private final Names names;
  private final boolean domains;
  private final boolean drivers;

  MachineReport(PrintStream out, Names names, boolean domains, boolean drivers) {
    this.out = out;
    this.names = names;
    this.domains = domains;
    this.drivers = drivers;
  }

  void line(PciFunction function) {
    PciIdentity identity = function.identity();
    out.print(slot(function));
    out.print(quoted(names.ofClass(identity)));
    out.print(quoted(names.ofVendor(identity)) + quoted(names.ofDeviceAlone(identity)));
    int revision = function.readConfig(REVISION, 1);
    if (revision != 0) {
      out.printf(" -r%02x", revision);
    }
    out.printf(" -p%02x", function.readConfig(CLASS_CODE, 1));
    if (hasSubsystem(identity)) {
      out.print(quoted(names.ofSubsystemVendor(identity)) + quoted(names.ofSubsystemAlone(identity)));
    } else {
      out.print(quoted("") + quoted(""));
    }
    out.println();
  }

  /**
   * Prints a record.
   *
   * @param slotTag what the first line is called: {@code Slot}, or {@code Device} as {@code -vm} has it
   */
  void record(PciFunction function, String slotTag) {
    PciIdentity identity = function.identity();
    tagged(slotTag, slot(function));
    tagged("Class", names.ofClass(identity));
    tagged("Vendor", names.ofVendor(identity));
    tagged("Device", names.ofDeviceAlone(identity));
    if (hasSubsystem(identity)) {
      tagged("SVendor", names.ofSubsystemVendor(identity));
      tagged("SDevice", names.ofSubsystemAlone(identity));
    }
    int revision = function.readConfig(REVISION, 1);
    if (revision != 0) {
      tagged("Rev", "%02x".formatted(revision));
    }
    tagged("ProgIf", "%02x".formatted(function.readConfig(CLASS_CODE, 1)));
    if (drivers) {
      function.driverName().ifPresent(driver -> tagged("Driver", driver));
    }
    out.println();
  }

  private static boolean hasSubsystem(PciIdentity identity) {
    return identity.subsystemVendor() != 0 && identity.subsystemVendor() != 0xffff;
  }

  private String slot(PciFunction function) {
    return domains ? function.address().toString() : function.address().toShortString();
  }

  private void tagged(String tag, String value) {
    out.printf("%s:\t%s%n", tag, value);
  }

  private static String quoted(String text) {
    return " \"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
