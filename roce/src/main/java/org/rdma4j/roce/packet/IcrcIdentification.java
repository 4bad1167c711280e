package org.rdma4j.roce.packet;

/**
 * Finds the IPv4 identification of a received packet, which a UDP socket does not show, from its ICRC.
 *
 * <p>CRC-32 is linear: the ICRC with an identification differs from the one with identification 0 by the 16-bit
 * polynomial of the identification times x to the number of bits that follow, modulo the CRC's polynomial. Multiplied
 * by the inverse of that power, which a table made once holds for each packet length, the difference must be a
 * polynomial of degree below 16 again, and is the identification. A damaged packet passes with a probability of 1 in
 * 65536.
 *
 * <p>Polynomials are kept as CRC-32 does: bit 31 is the coefficient of x^0. Thread-safe.
 */
public final class IcrcIdentification {

  private static final int POLYNOMIAL = 0xedb8_8320;
  private static final int ONE = 0x8000_0000;

  /** Bytes between the identification and the BTH: the rest of the IPv4 header and the UDP header. */
  private static final int BYTES_BEFORE_BTH = 14 + 8;

  private static final int MAX_LENGTH = 65535 - 20 - 8 - Icrc.LENGTH;

  /** For the packet length divided by four: x to minus (32 + bits after the identification). */
  private static final int[] INVERSE_POWERS = new int[MAX_LENGTH / 4 + 1];

  static {
    int power = divideByX(ONE, 32 + 8 * BYTES_BEFORE_BTH);
    for (int i = 0; i < INVERSE_POWERS.length; i++) {
      INVERSE_POWERS[i] = power;
      power = divideByX(power, 32);
    }
  }

  private IcrcIdentification() {}

  /**
   * Recovers the identification.
   *
   * @param difference exclusive or of the ICRC received and the ICRC computed with identification 0 and the flags sent
   * @param length bytes from the BTH to the end of the pad
   * @return 0 to 65535, or -1 when no identification explains the difference: the packet is damaged
   */
  public static int recover(int difference, int length) {
    if ((length & 3) != 0 || length < 0 || length > MAX_LENGTH) {
      return -1; // no RoCEv2 packet: the pad makes every one a multiple of four
    }
    int quotient = multiply(difference, INVERSE_POWERS[length >> 2]);
    return (quotient & 0xffff) == 0 ? Short.reverseBytes((short) (quotient >>> 16)) & 0xffff : -1;
  }

  private static int multiply(int a, int b) {
    int product = 0;
    int term = b;
    for (int bits = a; bits != 0; bits <<= 1) {
      product ^= term & bits >> 31;
      term = term >>> 1 ^ POLYNOMIAL & -(term & 1);
    }
    return product;
  }

  private static int divideByX(int value, int times) {
    int quotient = value;
    for (int i = 0; i < times; i++) {
      // Adding the polynomial, whose x^0 is 1, makes the value divisible; its x^32, not in the word, becomes x^31.
      quotient = quotient < 0 ? (quotient ^ POLYNOMIAL) << 1 | 1 : quotient << 1;
    }
    return quotient;
  }
}
