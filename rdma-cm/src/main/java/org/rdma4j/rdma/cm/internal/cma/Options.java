package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet4Address;
import java.net.InetAddress;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** What was set at an identifier ({@code rdma_set_option}). Written under the identifier's lock. */
final class Options {
  private static final int BYTE = 0xff;
  private static final int MOST_TIMEOUT = 31;

  private volatile int typeOfService;
  private volatile int ackTimeout;
  private volatile boolean reusesAddress;
  private volatile Boolean familyOnly;

  static void checkTypeOfService(int tos) {
    checkRange("type of service", tos, BYTE);
  }

  static void checkAckTimeout(int exponent) {
    checkRange("ACK timeout", exponent, MOST_TIMEOUT);
  }

  private static void checkRange(String what, int value, int most) {
    if (value < 0 || value > most) {
      throw new VerbsException(Errno.EINVAL, "%s: %d is not from 0 to %d".formatted(what, value, most));
    }
  }

  void typeOfService(int tos) {
    typeOfService = tos;
  }

  int typeOfService() {
    return typeOfService;
  }

  void ackTimeout(int exponent) {
    ackTimeout = exponent;
  }

  /** {@return the exponent, 0 for what the path says} */
  int ackTimeout() {
    return ackTimeout;
  }

  /** {@return exponent of what a packet takes, twice of which is what an acknowledge is waited for} */
  int packetLifeTime() {
    int said = ackTimeout;
    return said == 0 ? Conversation.PACKET_LIFE_TIME : said - 1;
  }

  void reusesAddress(boolean allowed) {
    reusesAddress = allowed;
  }

  boolean reusesAddress() {
    return reusesAddress;
  }

  void familyOnly(boolean only) {
    familyOnly = only;
  }

  /** Whether it serves the family of its address only: those of IPv4 do, unless somebody said something else. */
  boolean familyOnly(InetAddress address) {
    Boolean said = familyOnly;
    return said == null ? address instanceof Inet4Address : said;
  }
}
