package org.rdma4j.tools.pci;

import java.util.Map;
import java.util.Optional;
import org.rdma4j.pci.PciIdentity;

/**
 * How classes and devices are called: by their words, their numbers ({@code -n}) or both ({@code -nn}). Words come from
 * the machine's list of names; where that is silent, from the card itself and from a few classes known here.
 */
final class Names {
  /** What is wanted. */
  enum Form {
    /** Words. */
    TEXT,
    /** Numbers. */
    NUMERIC,
    /** Words and numbers. */
    MIXED
  }

  /** The classes that cards for networks, storage and computing have. */
  private static final Map<Integer, String> CLASSES =
      Map.of(
          0x0108, "Non-Volatile memory controller",
          0x0200, "Ethernet controller",
          0x0207, "Infiniband controller",
          0x0280, "Network controller",
          0x0604, "PCI bridge",
          0x0880, "System peripheral",
          0x0b40, "Co-processor",
          0x0c06, "InfiniBand",
          0x1200, "Processing accelerators");

  private final Form form;
  private final PciIds ids;

  Names(Form form, PciIds ids) {
    this.form = form;
    this.ids = ids;
  }

  /** A class, of whose subclass perhaps only the base class is known: then its number is always given. */
  String ofClass(PciIdentity identity) {
    int number = identity.classCode() >> Byte.SIZE;
    Optional<String> exact = ids.subclass(number).or(() -> Optional.ofNullable(CLASSES.get(number)));
    Optional<String> base = exact.isPresent() ? exact : ids.baseClass(number >> Byte.SIZE);
    boolean both = form == Form.MIXED || form == Form.TEXT && exact.isEmpty() && base.isPresent();
    return single(both ? Form.MIXED : form, base, "%04x".formatted(number), "Class");
  }

  /** The words of the class's programming interface, if it has any; whatever form is wanted. */
  Optional<String> ofProgramming(PciIdentity identity) {
    return ids.programming(identity.classCode() >> Byte.SIZE, identity.classCode() & 0xff);
  }

  String ofVendor(PciIdentity identity) {
    return single(form, vendor(identity), "%04x".formatted(identity.vendor()), "Vendor");
  }

  String ofDeviceAlone(PciIdentity identity) {
    return single(form, device(identity), "%04x".formatted(identity.device()), "Device");
  }

  String ofSubsystemVendor(PciIdentity identity) {
    return single(form, subsystemVendor(identity), "%04x".formatted(identity.subsystemVendor()), "Unknown vendor");
  }

  String ofSubsystemAlone(PciIdentity identity) {
    return single(form, subsystem(identity), "%04x".formatted(identity.subsystem()), "Device");
  }

  /** Vendor and device. */
  String ofDevice(PciIdentity identity) {
    return pair(vendor(identity), device(identity), identity.vendor(), identity.device());
  }

  /** Vendor and device of the subsystem. */
  String ofSubsystem(PciIdentity identity) {
    return pair(subsystemVendor(identity), subsystem(identity), identity.subsystemVendor(), identity.subsystem());
  }

  private Optional<String> vendor(PciIdentity identity) {
    return ids.vendor(identity.vendor()).or(() -> Optional.ofNullable(identity.vendorName()));
  }

  private Optional<String> device(PciIdentity identity) {
    return ids.device(identity.vendor(), identity.device()).or(() -> Optional.ofNullable(identity.deviceName()));
  }

  private Optional<String> subsystemVendor(PciIdentity identity) {
    return identity.subsystemVendor() == identity.vendor() ? vendor(identity) : ids.vendor(identity.subsystemVendor());
  }

  private Optional<String> subsystem(PciIdentity identity) {
    Optional<String> exact =
        ids.subsystem(
            identity.vendor(), identity.device(), identity.subsystemVendor(), identity.subsystem());
    boolean itself =
        identity.subsystemVendor() == identity.vendor() && identity.subsystem() == identity.device();
    return exact.isEmpty() && itself ? device(identity) : exact;
  }

  private static String single(Form form, Optional<String> word, String number, String unknown) {
    return switch (form) {
      case NUMERIC -> number;
      case MIXED -> word.orElse(unknown) + " [" + number + "]";
      case TEXT -> word.orElse(unknown + " " + number);
    };
  }

  private String pair(Optional<String> vendorName, Optional<String> deviceName, int vendor, int device) {
    String numbers = "%04x:%04x".formatted(vendor, device);
    if (form == Form.NUMERIC) {
      return numbers;
    }
    String known = vendorName.map(name -> name + " ").orElse("");
    boolean named = vendorName.isPresent() && deviceName.isPresent();
    if (form == Form.MIXED) {
      return known + (named ? deviceName.get() : "Device") + " [" + numbers + "]";
    }
    return known + (named ? deviceName.get() : "Device " + (known.isEmpty() ? numbers : "%04x".formatted(device)));
  }
}
