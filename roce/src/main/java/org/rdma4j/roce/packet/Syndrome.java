package org.rdma4j.roce.packet;

/** The syndrome byte of the {@link Aeth}: type in bits 7:5, value in bits 4:0 (IBA volume 1, 9.7.5.1.2). */
public final class Syndrome {

  /** Type of a positive acknowledge; the value is a credit count code. */
  public static final int TYPE_ACK = 0x00;

  /** Type of a receiver-not-ready NAK; the value is a timer code, see {@link RnrTimer}. */
  public static final int TYPE_RNR_NAK = 0x20;

  /** Type that the specification reserves. */
  public static final int TYPE_RESERVED = 0x40;

  /** Type of a NAK; the value says why. */
  public static final int TYPE_NAK = 0x60;

  /** Acknowledge without flow control by credits, the only one rxe sends. */
  public static final int ACK_NO_CREDIT_LIMIT = 0x1f;

  /** Receiver not ready: or a timer code into it. */
  public static final int RNR = TYPE_RNR_NAK;

  /** NAK: a packet is missing. */
  public static final int NAK_SEQUENCE = 0x60;

  /** NAK: the request is not one the responder takes. */
  public static final int NAK_INVALID_REQUEST = 0x61;

  /** NAK: key, access rights or range do not allow the request. */
  public static final int NAK_REMOTE_ACCESS = 0x62;

  /** NAK: the responder cannot do the request. */
  public static final int NAK_REMOTE_OPERATIONAL = 0x63;

  /** NAK: invalid reliable datagram request. */
  public static final int NAK_INVALID_RD = 0x64;

  private static final String[] NAK_NAMES = {
    "PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"
  };

  private Syndrome() {}

  /**
   * The type.
   *
   * @param syndrome 0 to 255
   * @return one of the TYPE constants; also with bit 7 set for what is no syndrome of version 0
   */
  public static int type(int syndrome) {
    return syndrome & 0xe0;
  }

  /**
   * The value: credit code, timer code or reason.
   *
   * @param syndrome 0 to 255
   * @return 0 to 31
   */
  public static int value(int syndrome) {
    return syndrome & 0x1f;
  }

  /**
   * Names a syndrome for people.
   *
   * @param syndrome 0 to 255
   * @return for example {@code ACK}, {@code RNR NAK (timer 12)}, {@code NAK remote access error}
   */
  public static String describe(int syndrome) {
    int value = value(syndrome);
    return switch (type(syndrome)) {
      case TYPE_ACK -> syndrome == ACK_NO_CREDIT_LIMIT ? "ACK" : "ACK (credits " + value + ")";
      case TYPE_RNR_NAK -> "RNR NAK (timer " + value + ")";
      case TYPE_NAK -> "NAK " + (value < NAK_NAMES.length ? NAK_NAMES[value] : "code " + value);
      default -> "reserved syndrome 0x" + Integer.toHexString(syndrome);
    };
  }
}
