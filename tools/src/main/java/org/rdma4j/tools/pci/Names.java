package org.rdma4j.tools.pci;

import java.util.Map;
import org.rdma4j.pci.PciIdentity;

/** How classes and devices are called: by their words, their numbers ({@code -n}) or both ({@code -nn}). */
enum Names {
  /** Words. */
  TEXT,
  /** Numbers. */
  NUMERIC,
  /** Words and numbers. */
  MIXED;

  /** What {@code pci.ids} says of the classes that cards for networks, storage and computing have. */
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

  String ofClass(PciIdentity identity) {
    int number = identity.classCode() >> Byte.SIZE;
    String word = CLASSES.get(number);
    return switch (this) {
      case NUMERIC -> "%04x".formatted(number);
      case TEXT -> word == null ? "Class %04x".formatted(number) : word;
      case MIXED -> "%s [%04x]".formatted(word == null ? "Class" : word, number);
    };
  }

  String ofDevice(PciIdentity identity) {
    return pair(identity.vendorName(), identity.deviceName(), identity.vendor(), identity.device());
  }

  /** The card says in words who made it and what it is, but not of what subsystem it is. */
  String ofSubsystem(PciIdentity identity) {
    String vendor = identity.subsystemVendor() == identity.vendor() ? identity.vendorName() : null;
    return pair(vendor, null, identity.subsystemVendor(), identity.subsystem());
  }

  private String pair(String vendorName, String deviceName, int vendor, int device) {
    String numbers = "%04x:%04x".formatted(vendor, device);
    if (this == NUMERIC) {
      return numbers;
    }
    String known = vendorName == null ? "" : vendorName + " ";
    if (deviceName != null) {
      return known + deviceName + (this == MIXED ? " [" + numbers + "]" : "");
    }
    if (this == MIXED) {
      return known + "Device [" + numbers + "]";
    }
    return known + "Device " + (vendorName == null ? numbers : "%04x".formatted(device));
  }
}
