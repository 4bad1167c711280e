package org.rdma4j.mlx5.ifc;

/** What became of a command ({@code device.h}: {@code MLX5_CMD_STAT_*}). */
public enum CommandStatus {
  /** Done. */
  OK(0x00, "ok"),
  /** Internal error. */
  INTERNAL_ERROR(0x01, "internal error"),
  /** Unknown opcode or modifier. */
  BAD_OPERATION(0x02, "bad operation"),
  /** A field is wrong. */
  BAD_PARAMETER(0x03, "bad parameter"),
  /** Not in this state of the card. */
  BAD_SYSTEM_STATE(0x04, "bad system state"),
  /** No such object. */
  BAD_RESOURCE(0x05, "bad resource"),
  /** The object is in use. */
  RESOURCE_BUSY(0x06, "resource busy"),
  /** More than the card has. */
  LIMITS_EXCEEDED(0x08, "limits exceeded"),
  /** Not in this state of the object. */
  BAD_RESOURCE_STATE(0x09, "bad resource state"),
  /** Index out of range. */
  BAD_INDEX(0x0a, "bad index"),
  /** Nothing is free. */
  NO_RESOURCES(0x0f, "no resources"),
  /** Not in this state of the queue pair. */
  BAD_QP_STATE(0x10, "bad QP state"),
  /** The packet is wrong. */
  BAD_PACKET(0x30, "bad packet"),
  /** Too many outstanding entries for the new size. */
  BAD_SIZE(0x40, "bad size, too many outstanding CQEs"),
  /** The input is too short or too long. */
  BAD_INPUT_LENGTH(0x50, "bad input length"),
  /** The output does not fit. */
  BAD_OUTPUT_LENGTH(0x51, "bad output length");

  private final int number;
  private final String text;

  CommandStatus(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** {@return the number, 8 bits} */
  public int number() {
    return number;
  }

  /** {@return the words for it} */
  public String text() {
    return text;
  }

  /**
   * Finds a status.
   *
   * @param number the number
   * @return the status, or null when the number is none
   */
  public static CommandStatus of(int number) {
    for (CommandStatus each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    return null;
  }
}
