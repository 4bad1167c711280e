package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The doorbell pages: who writes there tells of work, or arms a queue. What names an object that is not there, or not
 * of that page, is ignored. Any thread; neither blocks nor allocates.
 */
final class Doorbells {
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int CQ = 0x20;
  private static final int EQ_ARM = 0x40;
  private static final int EQ_UPDATE = 0x48;
  private static final int SEND = 0x800;
  private static final int EQ_SHIFT = 24;
  private static final int INDEX_MASK = 0xff_ffff;
  private static final int SOLICITED = 1 << 24;
  private static final int NUMBER_SHIFT = 8;
  private static final int COUNT_MASK = 0xffff;

  private final Runnable armed;

  /** First words of doorbells that come in two halves, one a page. */
  private final AtomicIntegerArray halves = new AtomicIntegerArray(Limits.UARS);

  /** {@code armed} is told when a completion queue is armed. */
  Doorbells(Runnable armed) {
    this.armed = armed;
  }

  /** Four bytes: an event queue's doorbell, or half of another. */
  void write(Boot boot, long offset, int value) {
    int page = (int) (offset / HostPages.PAGE);
    int at = (int) (offset % HostPages.PAGE);
    if (at == EQ_ARM || at == EQ_UPDATE) {
      EventQueue queue = boot.objects().events().queue(value >>> EQ_SHIFT);
      if (queue != null && queue.uar() == page && boot.objects().uars().contains(page)) {
        queue.doorbell(value & INDEX_MASK, at == EQ_ARM);
      }
    } else if ((at & Integer.BYTES) == 0) {
      halves.set(page, value);
    } else {
      ring(boot, page, at - Integer.BYTES, halves.get(page), value);
    }
  }

  /** Eight bytes. */
  void write(Boot boot, long offset, long value) {
    int at = (int) (offset % HostPages.PAGE);
    if (at == EQ_ARM || at == EQ_UPDATE) {
      write(boot, offset, (int) (value >>> Integer.SIZE));
    } else {
      ring(boot, (int) (offset / HostPages.PAGE), at, (int) (value >>> Integer.SIZE), (int) value);
    }
  }

  /** A whole work queue entry. */
  void write(Boot boot, long offset, MemorySegment source, long from, int length) {
    int page = (int) (offset / HostPages.PAGE);
    int at = (int) (offset % HostPages.PAGE);
    if (at < SEND) {
      return;
    }
    int first = source.get(DWORD, from);
    int second = source.get(DWORD, from + Integer.BYTES);
    QueuePair qp = queuePair(boot, page, second);
    if (qp != null) {
      qp.sends().blueFlame(first >>> NUMBER_SHIFT & COUNT_MASK, source, from, length);
      qp.transport().ring();
    }
  }

  private void ring(Boot boot, int page, int at, int first, int second) {
    if (at == CQ) {
      CompletionQueue queue = boot.objects().cqs().get(second & INDEX_MASK);
      if (queue != null && queue.uar() == page) {
        queue.arm(first & INDEX_MASK, (first & SOLICITED) != 0);
        armed.run();
      }
    } else if (at >= SEND) {
      QueuePair qp = queuePair(boot, page, second);
      if (qp != null) {
        qp.transport().ring();
      }
    }
  }

  private static QueuePair queuePair(Boot boot, int page, int word) {
    QueuePair qp = boot.objects().queuePairs().get(word >>> NUMBER_SHIFT);
    return qp != null && qp.parts().uar() == page ? qp : null;
  }
}
