package org.rdma4j.roce.packet;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What a management datagram says, as far as its header does; of communication management also which message it is, by
 * which numbers both sides know the connection, and why something was refused.
 *
 * <pre>
 *   0        1        2        3        4                 8
 *   +--------+--------+--------+--------+--------+--------+----- ... -----+
 *   |version |class   |cl. ver.|method  | status | ...    | transaction   |
 *   +--------+--------+--------+--------+--------+--------+----- ... -----+
 *   16                18                20                24
 *   | attribute       | ...             | modifier        | data
 * </pre>
 */
final class MadFormatter {
  /** Bytes of every datagram. */
  static final int LENGTH = 256;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int CLASS = 1;
  private static final int METHOD = 3;
  private static final int TRANSACTION = 8;
  private static final int ATTRIBUTE = 16;
  private static final int DATA = 24;

  private static final int CLASS_CM = 7;
  private static final int METHOD_SEND = 3;

  /** Messages of communication management by their attribute id, from this on. */
  private static final int FIRST = 0x10;

  private static final String[] MESSAGES = {
    "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"
  };

  private static final int REQ = 0;
  private static final int REJ = 2;
  private static final int SIDR_REQ = 7;
  private static final int SIDR_REP = 8;
  private static final int SERVICE = 8;
  private static final int REASON = 10;
  private static final int STATUS = 4;

  private MadFormatter() {}

  static void append(StringBuilder text, MemorySegment memory, long mad) {
    int message = unsigned(memory.get(SHORT, mad + ATTRIBUTE)) - FIRST;
    boolean cm =
        memory.get(ValueLayout.JAVA_BYTE, mad + CLASS) == CLASS_CM
            && memory.get(ValueLayout.JAVA_BYTE, mad + METHOD) == METHOD_SEND
            && message >= 0
            && message < MESSAGES.length;
    if (cm) {
      text.append(" CM ").append(MESSAGES[message]);
      appendNumbers(text, message, memory, mad + DATA);
    } else {
      hex(text, "MAD class", memory.get(ValueLayout.JAVA_BYTE, mad + CLASS) & 0xff);
      hex(text, "method", memory.get(ValueLayout.JAVA_BYTE, mad + METHOD) & 0xff);
      hex(text, "attribute", unsigned(memory.get(SHORT, mad + ATTRIBUTE)));
    }
    hex(text, "tid", memory.get(LONG, mad + TRANSACTION));
  }

  private static void appendNumbers(StringBuilder text, int message, MemorySegment memory, long data) {
    hex(text, "id", Integer.toUnsignedLong(memory.get(INT, data)));
    switch (message) {
      case REQ, SIDR_REQ -> hex(text, "service", memory.get(LONG, data + SERVICE));
      case SIDR_REP -> text.append(" status ").append(memory.get(ValueLayout.JAVA_BYTE, data + STATUS));
      default -> hex(text, "peer", Integer.toUnsignedLong(memory.get(INT, data + Integer.BYTES)));
    }
    if (message == REJ) {
      text.append(" reason ").append(unsigned(memory.get(SHORT, data + REASON)));
    }
  }

  private static int unsigned(short value) {
    return Short.toUnsignedInt(value);
  }

  private static void hex(StringBuilder text, String label, long value) {
    text.append(' ').append(label).append(" 0x").append(Long.toHexString(value));
  }
}
