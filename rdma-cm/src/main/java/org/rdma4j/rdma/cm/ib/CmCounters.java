package org.rdma4j.rdma.cm.ib;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rdma4j.rdma.cm.message.CmAttribute;

/**
 * Messages of a port counted by kind (kernel: sysfs groups {@code cm_tx_msgs}, {@code cm_tx_retries}, {@code
 * cm_rx_msgs}, {@code cm_rx_duplicates}).
 */
public final class CmCounters {
  private final AtomicLongArray sent = new AtomicLongArray(CmAttribute.values().length);
  private final AtomicLongArray retries = new AtomicLongArray(CmAttribute.values().length);
  private final AtomicLongArray received = new AtomicLongArray(CmAttribute.values().length);
  private final AtomicLongArray duplicates = new AtomicLongArray(CmAttribute.values().length);

  /** Messages that were sent, also those that were sent again. */
  public long sent(CmAttribute kind) {
    return sent.get(kind.ordinal());
  }

  /** Messages that were sent again, because no answer came or because the peer asked again. */
  public long retries(CmAttribute kind) {
    return retries.get(kind.ordinal());
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

  /**
   * A port has sent some again.
   *
   * @param times how often
   */
  public void countRetries(CmAttribute kind, int times) {
    sent.addAndGet(kind.ordinal(), times);
    retries.addAndGet(kind.ordinal(), times);
  }

  void countReceived(CmAttribute kind) {
    received.incrementAndGet(kind.ordinal());
  }

  void countDuplicate(CmAttribute kind) {
    duplicates.incrementAndGet(kind.ordinal());
  }
}
