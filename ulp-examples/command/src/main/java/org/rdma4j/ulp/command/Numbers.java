package org.rdma4j.ulp.command;

/** Numbers on the command line as {@code strtol} reads them with base 0: decimal, {@code 0x} hexadecimal, 0 octal. */
public final class Numbers {
  private Numbers() {}

  /**
   * Reads a number.
   *
   * @param command the name of the command, for the message
   * @param option what the number is for, such as {@code -p}
   * @param text what was typed
   * @param min the smallest value allowed
   * @param max the largest value allowed
   * @return the number
   * @throws UsageException where the text is no number or out of range
   */
  public static int parse(String command, String option, String text, int min, int max) throws UsageException {
    try {
      long value = Long.decode(text.strip());
      if (value >= min && value <= max) {
        return (int) value;
      }
    } catch (NumberFormatException e) {
      // Refused below, with what is allowed.
    }
    throw new UsageException(
        command + ": invalid argument '" + text + "' for " + option + ": a number from " + min + " to " + max);
  }
}
