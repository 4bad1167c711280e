package org.rdma4j.rdma.cm.ib;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rdma4j.rdma.cm.message.CmAttribute;

/** Messages counted by kind (kernel: sysfs groups {@code cm_tx_msgs}, {@code cm_rx_msgs}, {@code cm_rx_duplicates}). */
public final class CmCounters {
  private final AtomicLongArray sent = new AtomicLongArray(CmAttribute.values().length);
  private final AtomicLongArray received = new AtomicLongArray(CmAttribute.values().length);
  private final AtomicLongArray duplicates = new AtomicLongArray(CmAttribute.values().length);

  /** Messages that were sent, without those that were sent again. */
  public long sent(CmAttribute kind) {
    return sent.get(kind.ordinal());
  }

  /** Messages that came. */
  public long received(CmAttribute kind) {
    return received.get(kind.ordinal());
  }

  /** Messages that came once more. */
  public long duplicates(CmAttribute kind) {
    return duplicates.get(kind.ordinal());
  }

  void countSent(CmAttribute kind) {
    sent.incrementAndGet(kind.ordinal());
  }

  void countReceived(CmAttribute kind) {
    received.incrementAndGet(kind.ordinal());
  }

  void countDuplicate(CmAttribute kind) {
    duplicates.incrementAndGet(kind.ordinal());
  }
}
