package org.rdma4j.mlx5.ib;

import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;

/**
 * What belongs to a queue pair besides the card's object; all null for the target of an extended reliable connection,
 * which has no queues.
 *
 * @param buffer memory of both queues, receives first
 * @param record doorbell record of both
 * @param register send doorbell
 */
record QpParts(DmaBuffer buffer, DoorbellRecord record, BlueFlameRegister register) implements AutoCloseable {
  static final QpParts NONE = new QpParts(null, null, null);

  @Override
  public void close() {
    if (register != null) {
      register.close();
    }
    if (record != null) {
      record.close();
    }
    if (buffer != null) {
      buffer.close();
    }
  }
}
