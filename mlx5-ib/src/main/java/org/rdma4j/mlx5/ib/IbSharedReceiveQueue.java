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
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.SharedQueueCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * A shared receive queue: a linked list of entries of a fixed stride, of which the last stays unused (kernel: {@code
 * struct mlx5_ib_srq}, {@code srq.c}). Posting is safe for any thread.
 */
final class IbSharedReceiveQueue extends SharedReceiveQueue {
  private static final int SEGMENT = 16;
  private static final int SMALLEST_STRIDE = 32;
  private static final int COUNT_MASK = 0xffff;

  private final ConnectxDevice device;
  private final DmaBuffer buffer;
  private final DoorbellRecord record;
  private final MemorySegment ring;
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
      ObjectContext owner,
      ConnectxDevice device,
      int number,
      DmaBuffer buffer,
      DoorbellRecord record,
      int count,
      int maxSge) {
    super(owner, number);
    this.device = device;
    this.buffer = buffer;
    this.record = record;
    this.ring = buffer.segment();
    this.count = count;
    this.stride = stride(maxSge);
    this.maxSge = maxSge;
    this.wrIds = new long[count];
    this.last = count - 1;
  }

  private static int stride(int maxSge) {
    return Math.max(SMALLEST_STRIDE, Sizes.roundUp(SEGMENT + SEGMENT * maxSge));
  }

  static IbSharedReceiveQueue create(ObjectContext owner, ConnectxDevice device, SrqInitAttributes attributes) {
    int count = Sizes.roundUp(attributes.maxWr() + 1);
    int maxSge = Math.max(1, attributes.maxSge());
    int stride = stride(maxSge);
    DmaBuffer buffer = Errors.translated(() -> device.core().allocate((long) count * stride));
    DoorbellRecord record = null;
    int number = -1;
    boolean made = false;
    try {
      record = Errors.translated(() -> device.core().allocateDoorbellRecord());
      for (int i = 0; i < count; i++) {
        buffer.segment().set(INT, (long) i * stride, i + 1 & count - 1);
      }
      CommandRequest request = CommandRequest.of(Opcode.CREATE_RMP, (long) buffer.pages() * Long.BYTES);
      Structure queue = SharedQueueCommands.workQueue(request.structure("ctx"));
      queue
          .set("pd", ((IbProtectionDomain) owner.protectionDomain()).number())
          .set("log_wq_stride", Sizes.log(stride))
          .set("log_wq_sz", Sizes.log(count))
          .set("lwm", attributes.limit())
          .setLong("dbr_addr", record.address());
      buffer.listPages(request, 0, 0);
      number = Errors.translated(() -> SharedQueueCommands.create(device.core(), request));
      IbSharedReceiveQueue made0 =
          new IbSharedReceiveQueue(owner, device, number, buffer, record, count, maxSge);
      device.sharedQueues().put(number, made0);
      made = true;
      return made0;
    } finally {
      if (!made) {
        if (number >= 0) {
          int which = number;
          device.giveBack("shared receive queue", () -> SharedQueueCommands.destroy(device.core(), which));
        }
        if (record != null) {
          record.close();
        }
        buffer.close();
      }
    }
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
    Errors.translatedRun(() -> SharedQueueCommands.arm(device.core(), srqNumber(), least));
  }

  @Override
  protected SrqAttributes doQuery() {
    Structure queue =
        SharedQueueCommands.workQueue(
            Errors.translated(() -> SharedQueueCommands.query(device.core(), srqNumber())));
    return new SrqAttributes(count - 1, maxSge, queue.get("lwm"));
  }

  @Override
  protected void doDestroy() {
    ended = true;
    device.sharedQueues().put(srqNumber(), null);
    device.giveBack("shared receive queue", () -> SharedQueueCommands.destroy(device.core(), srqNumber()));
    lock.close(); // Completions of it that are polled from now on find it closed and leave the list alone.
    record.close();
    buffer.close();
  }
}
