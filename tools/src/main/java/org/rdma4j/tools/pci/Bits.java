package org.rdma4j.tools.pci;

/** Flags of a register in the words of {@code lspci}: each with a plus where it is set and a minus where not. */
final class Bits {
  private Bits() {}

  static char sign(int word, int mask) {
    return (word & mask) == 0 ? '-' : '+';
  }

  /**
   * Names and signs, parted by blanks.
   *
   * @param list names, each with a colon and the hexadecimal mask, as {@code "CorrErr:1 FatalErr:4"}
   */
  static String signs(int word, String list) {
    StringBuilder text = new StringBuilder();
    for (String each : list.split(" ")) {
      int colon = each.indexOf(':');
      text.append(text.isEmpty() ? "" : " ")
          .append(each, 0, colon)
          .append(sign(word, Integer.parseUnsignedInt(each, colon + 1, each.length(), 16)));
    }
    return text.toString();
  }
}
