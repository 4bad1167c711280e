package org.rdma4j.tools.pci;

import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciRegisters;

/**
 * Which functions are meant: {@code -s [[[[domain]:]bus]:][slot][.[function]]} and {@code -d
 * [vendor]:[device][:class[:prog-if]]}, all hexadecimal; what is left out or {@code *} may be anything.
 */
final class FunctionFilter {
  private static final int ANY = -1;
  private static final int HEXADECIMAL = 16;

  private int domain = ANY;
  private int bus = ANY;
  private int slot = ANY;
  private int function = ANY;
  private int vendor = ANY;
  private int device = ANY;
  private int classCode = ANY;
  private int programming = ANY;

  /** The words of pciutils for a filter that cannot be read. */
  static final class BadFilter extends Exception {
    private static final long serialVersionUID = 1L;

    BadFilter(String message) {
      super(message);
    }
  }

  /**
   * Narrows the choice.
   *
   * @param letter of the option, s or d
   * @param text its argument
   * @throws BadFilter with the option and what is wrong, as {@code -s: Invalid slot number}
   */
  void take(char letter, String text) throws BadFilter {
    try {
      if (letter == 's') {
        slot(text);
      } else {
        id(text);
      }
    } catch (BadFilter e) {
      throw new BadFilter("-" + letter + ": " + e.getMessage());
    }
  }

  private void slot(String text) throws BadFilter {
    String rest = text;
    int last = text.lastIndexOf(':');
    if (last >= 0) {
      rest = text.substring(last + 1);
      String front = text.substring(0, last);
      int first = front.indexOf(':');
      if (first >= 0) {
        domain = number(front.substring(0, first), 0xffff, "Invalid domain number");
      }
      bus = number(front.substring(first + 1), 0xff, "Invalid bus number");
    }
    int dot = rest.indexOf('.');
    slot = number(dot < 0 ? rest : rest.substring(0, dot), 0x1f, "Invalid slot number");
    if (dot >= 0) {
      function = number(rest.substring(dot + 1), 7, "Invalid function number");
    }
  }

  private void id(String text) throws BadFilter {
    String[] parts = text.split(":", -1);
    if (parts.length < 2) {
      throw new BadFilter("':' expected");
    }
    vendor = number(parts[0], 0xffff, "Invalid vendor ID");
    device = number(parts[1], 0xffff, "Invalid device ID");
    if (parts.length > 2) {
      classCode = number(parts[2], 0xffff, "Invalid class code");
    }
    if (parts.length > 3) {
      programming = number(parts[3], 0xff, "Invalid programming interface code");
    }
  }

  private static int number(String text, int most, String otherwise) throws BadFilter {
    if (text.isEmpty() || text.equals("*")) {
      return ANY;
    }
    try {
      int value = Integer.parseUnsignedInt(text, HEXADECIMAL);
      if (value >= 0 && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw new BadFilter(otherwise);
    }
    throw new BadFilter(otherwise);
  }

  boolean matches(PciFunction candidate) {
    PciAddress address = candidate.address();
    return matches(domain, address.domain())
        && matches(bus, address.bus())
        && matches(slot, address.device())
        && matches(function, address.function())
        && matches(vendor, candidate.identity().vendor())
        && matches(device, candidate.identity().device())
        && matches(classCode, candidate.identity().classCode() >> Byte.SIZE)
        && matches(programming, candidate.readConfig(PciRegisters.CLASS_CODE, 1));
  }

  private static boolean matches(int wanted, int found) {
    return wanted == ANY || wanted == found;
  }
}
