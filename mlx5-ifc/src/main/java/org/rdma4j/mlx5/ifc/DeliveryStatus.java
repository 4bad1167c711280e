package org.rdma4j.mlx5.ifc;

/** Whether the card could read a command at all ({@code device.h}: {@code MLX5_CMD_DELIVERY_STAT_*}). */
public enum DeliveryStatus {
  /** It was read. */
  OK(0x00),
  /** A signature is wrong. */
  SIGNATURE(0x01),
  /** Tokens differ. */
  TOKEN(0x02),
  /** Block numbers are not in order. */
  BLOCK_NUMBER(0x03),
  /** The output pointer is not aligned. */
  OUTPUT_POINTER(0x04),
  /** The input pointer is not aligned. */
  INPUT_POINTER(0x05),
  /** The firmware failed. */
  FIRMWARE(0x06),
  /** The input length is impossible. */
  INPUT_LENGTH(0x07),
  /** The output length is impossible. */
  OUTPUT_LENGTH(0x08),
  /** A reserved field is not 0. */
  RESERVED_NOT_CLEAR(0x09),
  /** The entry's type is wrong. */
  DESCRIPTOR_TYPE(0x10);

  private final int number;

  DeliveryStatus(int number) {
    this.number = number;
  }

  /** {@return the number, 7 bits} */
  public int number() {
    return number;
  }

  /**
   * Finds a status.
   *
   * @param number the number
   * @return the status, or null when the number is none
   */
  public static DeliveryStatus of(int number) {
    for (DeliveryStatus each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    return null;
  }
}
