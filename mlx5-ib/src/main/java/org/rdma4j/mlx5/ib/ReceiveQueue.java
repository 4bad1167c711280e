package org.rdma4j.mlx5.ib;

import static org.rdma4j.mlx5.ib.BigEndian.INT;
import static org.rdma4j.mlx5.ib.BigEndian.LONG;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QueueLock;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.mlx5.core.DoorbellRecord;

/**
 * The receive queue of a queue pair: lists of buffers of a fixed stride (kernel: {@code wr.c:mlx5_ib_post_recv}).
 * Receives complete in their order. For the holder of {@link #lock}; {@link #completed} for the holder of the
 * completion queue's.
 */
final class ReceiveQueue {
  static final int SEGMENT = 16;
  private static final int END_OF_LIST_KEY = 0x100;
  private static final int COUNT_MASK = 0xffff;

  private final QueueLock lock = new QueueLock();
  private final MemorySegment ring;
  private final int count;
  private final int maxSge;
  private final int stride;
  private final DoorbellRecord record;
  private final long[] wrIds;
  private volatile int head;
  private volatile int tail;

  ReceiveQueue(MemorySegment ring, int count, int maxSge, DoorbellRecord record) {
    this.ring = ring;
    this.count = count;
    this.maxSge = maxSge;
    this.stride = (int) (ring.byteSize() / count);
    this.record = record;
    this.wrIds = new long[count];
  }

  QueueLock lock() {
    return lock;
  }

  /** Writes and publishes a chain; the card takes receives when it needs them, so there is nothing to ring. */
  void post(ReceiveWorkRequest chain, IbQueuePair owner) {
    if (!lock.lock()) {
      throw new PostException(Errno.EIO, owner + ": the device was removed or the queue pair destroyed", chain);
    }
    int next = head;
    try {
      for (ReceiveWorkRequest wr = chain; wr != null; wr = wr.next()) {
        if (wr.sgeCount() > maxSge) {
          throw refusal(owner, Errno.EINVAL, "it has " + wr.sgeCount() + " buffers; max_recv_sge is " + maxSge, wr);
        }
        if (next - tail >= count) {
          throw refusal(owner, Errno.ENOMEM, "the receive queue is full: it holds " + count + " requests", wr);
        }
        int index = next & count - 1;
        writeList(ring, (long) index * stride, stride, wr);
        wrIds[index] = wr.wrId();
        if (owner.trace().isOn()) {
          owner.trace().posted(true, ring.asSlice((long) index * stride, stride));
        }
        next++;
      }
    } finally {
      if (next != head) {
        head = next;
        BigEndian.RECORD.setRelease(record.segment(), record.offset(), next & COUNT_MASK);
      }
      lock.unlock();
    }
  }

  static PostException refusal(Object owner, Errno errno, String fault, ReceiveWorkRequest wr) {
    return new PostException(errno, "post_recv of wr_id " + wr.wrId() + " to " + owner + ": " + fault, wr);
  }

  /** A list of buffers; one that is shorter than its room ends with a mark. */
  static void writeList(MemorySegment ring, long from, int room, ReceiveWorkRequest wr) {
    long at = from;
    for (int i = 0; i < wr.sgeCount(); i++) {
      if (wr.sgeLength(i) != 0) {
        ring.set(INT, at, wr.sgeLength(i));
        ring.set(INT, at + 4, wr.sgeLkey(i));
        ring.set(LONG, at + 8, wr.sgeAddress(i));
        at += SEGMENT;
      }
    }
    if (at < from + room) {
      ring.set(INT, at, 0);
      ring.set(INT, at + 4, END_OF_LIST_KEY);
      ring.set(LONG, at + 8, 0);
    }
  }

  /** The oldest receive is complete; its identifier. */
  long completed() {
    int oldest = tail;
    long wrId = wrIds[oldest & count - 1];
    tail = oldest + 1;
    return wrId;
  }

  /** Receives without their completion, as far as it has been seen. */
  int outstanding() {
    return head - tail;
  }

  void reset() {
    head = 0;
    tail = 0;
    BigEndian.RECORD.setRelease(record.segment(), record.offset(), 0);
  }
}
