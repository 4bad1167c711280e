package org.rdma4j.tools.pci;

import java.util.ArrayList;
import java.util.List;

/**
 * A register by name: its place in an ordinary header or in a capability.
 *
 * @param name the name
 * @param capability id of the capability, or -1
 * @param offset bytes from the start of the header
 * @param width bytes, or 0 when it has to be said
 */
record RegisterName(String name, int capability, int offset, int width) {
  static final int NO_CAPABILITY = -1;

  private static final String HEADER =
      """
      00 2 VENDOR_ID
      02 2 DEVICE_ID
      04 2 COMMAND
      06 2 STATUS
      08 1 REVISION
      09 1 CLASS_PROG
      0a 2 CLASS_DEVICE
      0c 1 CACHE_LINE_SIZE
      0d 1 LATENCY_TIMER
      0e 1 HEADER_TYPE
      0f 1 BIST
      10 4 BASE_ADDRESS_0
      14 4 BASE_ADDRESS_1
      18 4 BASE_ADDRESS_2
      1c 4 BASE_ADDRESS_3
      20 4 BASE_ADDRESS_4
      24 4 BASE_ADDRESS_5
      28 4 CARDBUS_CIS
      2c 2 SUBSYSTEM_VENDOR_ID
      2e 2 SUBSYSTEM_ID
      30 4 ROM_ADDRESS
      34 1 CAPABILITIES
      3c 1 INTERRUPT_LINE
      3d 1 INTERRUPT_PIN
      3e 1 MIN_GNT
      3f 1 MAX_LAT
      """;

  private static final String CAPABILITIES =
      "PM AGP VPD SLOTID MSI CHSWP PCIX HT VNDR DBG CCRC HOTPLUG SSVID AGP3 SECURE EXP MSIX SATA AF EA";

  static final List<RegisterName> ALL = all();

  private static List<RegisterName> all() {
    List<RegisterName> names = new ArrayList<>();
    for (String line : HEADER.split("\n")) {
      String[] words = line.split(" ");
      int offset = Integer.parseInt(words[0], 16);
      names.add(new RegisterName(words[2], NO_CAPABILITY, offset, Integer.parseInt(words[1])));
    }
    int id = 1;
    for (String capability : CAPABILITIES.split(" ")) {
      names.add(new RegisterName("CAP_" + capability, id++, 0, 0));
    }
    return List.copyOf(names);
  }

  /** A line of {@code --dumpregs}. */
  @Override
  public String toString() {
    String id = capability == NO_CAPABILITY ? "    " : "  %02x".formatted(capability);
    return "%s %02x %c %s".formatted(id, offset, "-BW?L".charAt(width), name);
  }
}
