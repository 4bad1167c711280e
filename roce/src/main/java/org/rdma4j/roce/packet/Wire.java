package org.rdma4j.roce.packet;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Layouts of numbers in network byte order at any alignment. */
final class Wire {

  static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
  static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  static final int LOW_24 = 0xff_ffff;

  private Wire() {}
}
