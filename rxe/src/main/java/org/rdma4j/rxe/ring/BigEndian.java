package org.rdma4j.rxe.ring;

import java.nio.ByteOrder;

/** The fields of rings that are {@code __be32}. */
final class BigEndian {
  private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private BigEndian() {}

  /** A value in host order as it is stored, and the other way round. */
  static int of(int value) {
    return SWAP ? Integer.reverseBytes(value) : value;
  }
}
