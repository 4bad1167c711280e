package org.rdma4j.mlx5.ib;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** How the card sees numbers in memory. */
final class BigEndian {
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  /** Words of doorbell records, which the card reads at any time. */
  static final VarHandle RECORD = INT.varHandle();

  private BigEndian() {}
}
