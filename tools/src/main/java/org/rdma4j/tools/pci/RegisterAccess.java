package org.rdma4j.tools.pci;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One operation of {@code setpci}: {@code base[+offset][.B|W|L][=value[:mask],...]}, numbers hexadecimal.
 *
 * @param capability id of the capability that the place is relative to, or -1
 * @param place byte offset
 * @param width bytes: 1, 2 or 4
 * @param values what is written one after the other; none for reading
 */
record RegisterAccess(int capability, int place, int width, List<Value> values) {
  private static final int END = 0x1000;
  private static final int MOST_CAPABILITY = 0xff;

  /**
   * A value to be written.
   *
   * @param bits the bits, within the mask
   * @param mask the bits that change
   */
  record Value(int bits, int mask) {}

  /** What cannot be understood, in the words of setpci. */
  static final class ParseError extends Exception {
    private static final long serialVersionUID = 1L;

    ParseError(String message) {
      super(message);
    }
  }

  static RegisterAccess parse(String text) throws ParseError {
    int equals = text.indexOf('=');
    String target = equals < 0 ? text : text.substring(0, equals);
    int dot = target.indexOf('.');
    String front = dot < 0 ? target : target.substring(0, dot);
    int plus = front.indexOf('+');
    RegisterName base = base(plus < 0 ? front : front.substring(0, plus));
    int width = dot < 0 ? base.width() : width(target.substring(dot + 1));
    if (width == 0) {
      throw new ParseError("Missing width");
    }
    int place = base.offset() + (plus < 0 ? 0 : offset(front.substring(plus + 1)));
    List<Value> values = equals < 0 ? List.of() : values(text.substring(equals + 1), width);
    if (place < 0 || place >= END || place + width * Math.max(1, values.size()) > END) {
      throw new ParseError("Register number %02x out of range".formatted(place));
    }
    if (place % width != 0) {
      throw new ParseError("Unaligned register address %02x".formatted(place));
    }
    return new RegisterAccess(base.capability(), place, width, values);
  }

  private static RegisterName base(String text) throws ParseError {
    Long number = hexadecimal(text);
    if (number != null) {
      return new RegisterName(text, RegisterName.NO_CAPABILITY, (int) Math.min(number, END), 0);
    }
    String name = text.toUpperCase(Locale.ROOT);
    for (RegisterName each : RegisterName.ALL) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    Long capability = name.startsWith("CAP") ? hexadecimal(name.substring(3)) : null;
    if (capability == null || capability > MOST_CAPABILITY) {
      throw new ParseError("Unknown register \"" + text + "\"");
    }
    return new RegisterName(name, capability.intValue(), 0, 0);
  }

  private static int width(String text) throws ParseError {
    return switch (text.toUpperCase(Locale.ROOT)) {
      case "B" -> 1;
      case "W" -> 2;
      case "L" -> 4;
      default -> throw new ParseError("Invalid width \"" + text + "\"");
    };
  }

  private static int offset(String text) throws ParseError {
    Long offset = hexadecimal(text);
    if (offset == null || offset >= END) {
      throw new ParseError("Invalid offset \"" + text + "\"");
    }
    return offset.intValue();
  }

  private static List<Value> values(String text, int width) throws ParseError {
    if (text.isEmpty()) {
      throw new ParseError("Missing value");
    }
    List<Value> values = new ArrayList<>();
    for (String each : text.split(",", -1)) {
      int colon = each.indexOf(':');
      int bits = checked(colon < 0 ? each : each.substring(0, colon), each, "Value", width);
      int mask = colon < 0 ? -1 : checked(each.substring(colon + 1), each.substring(colon + 1), "Mask", width);
      values.add(new Value(bits & mask, mask));
    }
    return List.copyOf(values);
  }

  private static int checked(String number, String shown, String what, int width) throws ParseError {
    Long value = hexadecimal(number);
    if (value == null) {
      throw new ParseError("Invalid %s \"%s\"".formatted(what.toLowerCase(Locale.ROOT), shown));
    }
    long most = (1L << Byte.SIZE * width) - 1;
    if (value > most && value < 0xffff_ffffL - most) {
      throw new ParseError("%s \"%s\" is out of range".formatted(what, shown));
    }
    return value.intValue();
  }

  /** A number of up to 32 bits, or null. */
  private static Long hexadecimal(String text) {
    String digits = text.startsWith("0x") || text.startsWith("0X") ? text.substring(2) : text;
    if (!digits.matches("[0-9a-fA-F]{1,16}")) {
      return null;
    }
    long value = Long.parseUnsignedLong(digits, 16);
    return value >>> Integer.SIZE == 0 ? value : null;
  }
}
