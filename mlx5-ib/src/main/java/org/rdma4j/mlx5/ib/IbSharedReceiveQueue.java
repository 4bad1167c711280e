package org.rdma4j.mlx5.ib;

import static org.rdma4j.mlx5.ib.BigEndian.INT;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QueueLock;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqAttributes;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.SrqType;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.SharedQueueCommands;
import org.rdma4j.mlx5.core.Structure;

/**
 * A shared receive queue: a linked list of entries of a fixed stride, of which the last stays unused (kernel: {@code
 * struct mlx5_ib_srq}, {@code srq.c}). Posting is safe for any thread.
 */
final class IbSharedReceiveQueue extends SharedReceiveQueue {
  private static final int SEGMENT = SharedRing.SEGMENT;
  private static final int COUNT_MASK = 0xffff;

  private final ConnectxDevice device;
  private final SharedRing memory;
  private final DoorbellRecord record;
  private final MemorySegment ring;
  private final boolean extended;
  private final int count;
  private final int stride;
  private final int maxSge;
  private final QueueLock lock = new QueueLock();
  private final long[] wrIds;
  private int head;
  private int last;
  private int posted;
  private volatile boolean ended;

  private IbSharedReceiveQueue(
      ObjectContext owner, ConnectxDevice device, int number, SharedRing memory, int maxSge) {
    super(owner, number);
    this.device = device;
    this.memory = memory;
    this.record = memory.record();
    this.ring = memory.buffer().segment();
    this.extended = type() == SrqType.XRC;
    this.count = memory.count();
    this.stride = memory.stride();
    this.maxSge = maxSge;
    this.wrIds = new long[count];
    this.last = count - 1;
  }

  static IbSharedReceiveQueue create(ObjectContext owner, ConnectxDevice device, SrqInitAttributes attributes) {
    int maxSge = Math.max(1, attributes.maxSge());
    boolean extended = attributes.type() == SrqType.XRC;
    SharedRing memory = SharedRing.allocate(device.core(), attributes.maxWr(), maxSge);
    int number = -1;
    boolean made = false;
    try {
      int pd = ((IbProtectionDomain) owner.protectionDomain()).number();
      number =
          extended
              ? memory.createXrc(
                  device.core(),
                  pd,
                  attributes.xrcd().number(),
                  ((IbCompletionQueue) attributes.cq()).number(),
                  attributes.limit())
              : memory.create(device.core(), pd, attributes.limit());
      IbSharedReceiveQueue queue = new IbSharedReceiveQueue(owner, device, number, memory, maxSge);
      device.sharedQueues().put(number, queue);
      made = true;
      return queue;
    } finally {
      if (!made) {
        if (number >= 0) {
          giveBack(device, number, extended);
        }
        memory.close();
      }
    }
  }

  private static void giveBack(ConnectxDevice device, int number, boolean extended) {
    device.giveBack(
        "shared receive queue",
        () -> {
          if (extended) {
            SharedQueueCommands.destroyXrc(device.core(), number);
          } else {
            SharedQueueCommands.destroy(device.core(), number);
          }
        });
  }

  /** Whether it is of an XRC domain, with a completion queue of its own. */
  boolean isExtended() {
    return extended;
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    if (ended || !lock.lock()) {
      throw new PostException(Errno.EIO, this + ": the device was removed or the queue destroyed", chain);
    }
    int before = posted;
    try {
      for (ReceiveWorkRequest wr = chain; wr != null; wr = wr.next()) {
        if (wr.sgeCount() > maxSge) {
          throw ReceiveQueue.refusal(
              this, Errno.EINVAL, "it has " + wr.sgeCount() + " buffers; max_sge is " + maxSge, wr);
        }
        if (head == last) {
          throw ReceiveQueue.refusal(
              this, Errno.ENOMEM, "the receive queue is full: it holds " + (count - 1) + " requests", wr);
        }
        long at = (long) head * stride;
        ReceiveQueue.writeList(ring, at + SEGMENT, stride - SEGMENT, wr);
        wrIds[head] = wr.wrId();
        head = ring.get(INT, at) & COUNT_MASK;
        posted++;
      }
    } finally {
      if (posted != before) {
        BigEndian.RECORD.setRelease(record.segment(), record.offset(), posted & COUNT_MASK);
      }
      lock.unlock();
    }
  }

  /** A receive is complete; its entry is free again. For who polls. */
  long completed(int index) {
    int entry = index & count - 1;
    long wrId = wrIds[entry];
    if (lock.lock()) {
      ring.set(INT, (long) last * stride, entry);
      last = entry;
      lock.unlock();
    }
    return wrId;
  }

  void limitReached() {
    raise(AsyncEventType.SRQ_LIMIT_REACHED);
  }

  void broken() {
    raise(AsyncEventType.SRQ_ERR);
  }

  @Override
  protected void doModifyLimit(int least) {
    Errors.translatedRun(
        () -> {
          if (extended) {
            SharedQueueCommands.armXrc(device.core(), srqNumber(), least);
          } else {
            SharedQueueCommands.arm(device.core(), srqNumber(), least);
          }
        });
  }

  @Override
  protected SrqAttributes doQuery() {
    Structure context =
        Errors.translated(
            () ->
                extended
                    ? SharedQueueCommands.queryXrc(device.core(), srqNumber())
                    : SharedQueueCommands.workQueue(SharedQueueCommands.query(device.core(), srqNumber())));
    return new SrqAttributes(count - 1, maxSge, context.get("lwm"));
  }

  /** The card adds no completion of it any more before those that are there are kept, while they still find it. */
  @Override
  protected void doDestroy() {
    ended = true;
    giveBack(device, srqNumber(), extended);
    if (extended) {
      ((IbCompletionQueue) cq()).keep();
    }
    device.sharedQueues().remove(srqNumber(), this);
    lock.close(); // Completions of it that are polled from now on find it closed and leave the list alone.
    memory.close();
  }
}
