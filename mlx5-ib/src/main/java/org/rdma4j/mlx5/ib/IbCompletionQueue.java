package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QueueLock;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * A completion queue (kernel: {@code struct mlx5_ib_cq}): a ring that the card writes and any number of threads poll.
 *
 * <p>When a queue pair ends, or the device goes, what the card has written so far moves into a list of the host, behind
 * which the flushed work is put; so nothing is lost, nothing comes twice, and the order stays.
 */
final class IbCompletionQueue extends CompletionQueue {
  private static final int ARM_RECORD = 4;
  private static final int COUNT_MASK = 0xff_ffff;
  private static final int SEQUENCE_SHIFT = 28;
  private static final int SOLICITED_ONLY = 1 << 24;
  private static final int FIRST_ARMING = 2 << SEQUENCE_SHIFT;
  private static final int PORT = 1;

  /** What became of the queue besides holding entries. */
  private enum End {
    NONE,
    OVERFLOWED,
    DETACHED,
    DESTROYED
  }

  /** Room for a queue before anybody knows it. */
  private static final class Parts implements CompletionHandler {
    private final DmaBuffer buffer;
    private final DoorbellRecord record;
    private final int logSize;
    private volatile IbCompletionQueue queue;
    private CoreCompletionQueue core;

    private Parts(DmaBuffer buffer, DoorbellRecord record, int logSize) {
      this.buffer = buffer;
      this.record = record;
      this.logSize = logSize;
    }

    @Override
    public void completed() {
      IbCompletionQueue known = queue;
      if (known != null) {
        known.notifyCompletion();
      }
    }

    @Override
    public void failed(int syndrome) {
      IbCompletionQueue known = queue;
      if (known != null) {
        known.failed();
      }
    }
  }

  private final ConnectxDevice device;
  private final Parts parts;
  private final QueueLock lock = new QueueLock();
  private final MemorySegment ring;
  private final int logSize;
  private final Deque<WorkCompletion> left = new ArrayDeque<>();
  private final Cursor cursor = new Cursor();
  private int consumer;
  private boolean armedForAll;
  private int armedSequence = -1;
  private volatile End end = End.NONE;

  private IbCompletionQueue(ObjectContext owner, ConnectxDevice device, Parts parts) {
    super(owner, (1 << parts.logSize) - 1);
    this.device = device;
    this.parts = parts;
    this.logSize = parts.logSize;
    this.ring = parts.buffer.segment();
  }

  static IbCompletionQueue create(ObjectContext owner, ConnectxDevice device, CqInitAttributes attributes) {
    int log = Integer.SIZE - Integer.numberOfLeadingZeros(attributes.entries());
    DmaBuffer buffer = Errors.translated(() -> device.core().allocate((long) CompletionEntry.BYTES << log));
    DoorbellRecord record = null;
    Parts parts = null;
    boolean made = false;
    try {
      CompletionEntry.initialize(buffer.segment());
      record = Errors.translated(() -> device.core().allocateDoorbellRecord());
      record.segment().set(BigEndian.INT, record.offset() + ARM_RECORD, FIRST_ARMING);
      parts = new Parts(buffer, record, log);
      CommandRequest request = CommandRequest.of(Opcode.CREATE_CQ, (long) buffer.pages() * Long.BYTES);
      Structure context = request.structure("cq_context");
      context
          .set("log_cq_size", log)
          .set("uar_page", device.core().uar().index())
          .setLong("dbr_addr", record.address());
      buffer.listPages(request, 0, 0);
      int vector = attributes.vector() % device.core().completionVectors();
      Parts handler = parts;
      parts.core = Errors.translated(() -> device.core().createCompletionQueue(request, vector, handler));
      IbCompletionQueue queue = new IbCompletionQueue(owner, device, parts);
      parts.queue = queue;
      made = true;
      return queue;
    } finally {
      if (!made) {
        release(device, parts == null ? null : parts.core, record, buffer);
      }
    }
  }

  private static void release(
      ConnectxDevice device, CoreCompletionQueue core, DoorbellRecord record, DmaBuffer buffer) {
    if (core != null) {
      device.giveBack("completion queue", core::destroy);
    }
    if (record != null) {
      record.close();
    }
    buffer.close();
  }

  /** The card's number of the queue. */
  int number() {
    return parts.core.number();
  }

  @Override
  public int poll(WorkCompletion[] batch, int max) {
    End before = end;
    if (before == End.DESTROYED) {
      throw failure(before);
    }
    int limit = Math.min(max, batch.length);
    int count = 0;
    if (lock.lock()) {
      int old = consumer;
      try {
        while (count < limit && take(batch[count])) {
          count++;
        }
      } finally {
        publish(old);
        lock.unlock();
      }
    }
    if (count == 0 && before != End.NONE && max > 0) {
      throw failure(before);
    }
    return count;
  }

  /** Tells the card what was taken. */
  private void publish(int old) {
    if (consumer != old) {
      BigEndian.RECORD.setRelease(parts.record.segment(), parts.record.offset(), consumer & COUNT_MASK);
    }
  }

  private boolean take(WorkCompletion to) {
    WorkCompletion first = left.poll();
    if (first != null) {
      copy(first, to);
      return true;
    }
    return takeFromRing(to);
  }

  private static void copy(WorkCompletion from, WorkCompletion to) {
    to.set(
        from.wrId(),
        from.status(),
        from.opcode(),
        from.vendorError(),
        from.byteLength(),
        from.immediate(),
        from.qpNumber(),
        from.sourceQp(),
        from.flags(),
        from.pkeyIndex(),
        from.portNumber());
  }

  private boolean isInRing() {
    return end != End.DETACHED && end != End.DESTROYED;
  }

  private long place(int index) {
    return (long) (index & (1 << logSize) - 1) * CompletionEntry.BYTES;
  }

  private int opcode(int index) {
    return CompletionEntry.opcode(ring, place(index), index >>> logSize);
  }

  private boolean takeFromRing(WorkCompletion to) {
    while (isInRing()) {
      int opcode = opcode(consumer);
      if (opcode < 0) {
        return false;
      }
      long at = place(consumer);
      consumer++;
      IbQueuePair qp = device.queuePair(CompletionEntry.qpNumber(ring, at));
      if (qp != null) {
        parse(at, opcode, qp, to);
        return true;
      }
      // Of a queue pair that is gone, whose completions were moved before.
    }
    return false;
  }

  private void parse(long at, int opcode, IbQueuePair qp, WorkCompletion to) {
    boolean failed = CompletionEntry.isError(opcode);
    WcStatus status = failed ? CompletionEntry.status(ring, at) : WcStatus.SUCCESS;
    int vendor = failed ? CompletionEntry.vendorError(ring, at) : 0;
    if (CompletionEntry.isOfSend(opcode)) {
      SendQueue sends = qp.sends();
      int index = sends.index(CompletionEntry.counter(ring, at));
      long wrId = sends.wrId(index);
      WcOpcode done = sends.opcode(index);
      sends.completed(index);
      to.set(wrId, status, done, vendor, failed ? 0 : length(at, done), 0, qp.number(), 0, 0, 0, PORT);
    } else {
      long wrId = qp.receiveCompleted(CompletionEntry.counter(ring, at));
      int flags = failed ? 0 : flags(at, opcode, qp);
      to.set(
          wrId,
          status,
          opcode == CompletionEntry.WRITE_IMMEDIATE ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV,
          vendor,
          failed ? 0 : CompletionEntry.byteCount(ring, at),
          (flags & (WcFlag.WITH_IMM | WcFlag.WITH_INVALIDATE)) != 0 ? CompletionEntry.immediate(ring, at) : 0,
          qp.number(),
          failed ? 0 : CompletionEntry.sourceQp(ring, at),
          flags,
          0,
          PORT);
    }
    if (failed) {
      qp.failed(CompletionEntry.isOfSend(opcode), status);
    }
  }

  private int length(long at, WcOpcode done) {
    return switch (done) {
      case RDMA_READ -> CompletionEntry.byteCount(ring, at);
      case COMP_SWAP, FETCH_ADD -> Long.BYTES;
      default -> 0;
    };
  }

  private int flags(long at, int opcode, IbQueuePair qp) {
    int flags =
        switch (opcode) {
          case CompletionEntry.WRITE_IMMEDIATE, CompletionEntry.SEND_IMMEDIATE -> WcFlag.WITH_IMM;
          case CompletionEntry.SEND_INVALIDATE -> WcFlag.WITH_INVALIDATE;
          default -> 0;
        };
    return qp.isDatagram() && CompletionEntry.hasRoute(ring, at) ? flags | WcFlag.GRH : flags;
  }

  /** Moves what the card has written into the list of the host; for the holder of the lock. */
  private void moveAside() {
    int old = consumer;
    for (WorkCompletion next = new WorkCompletion(); takeFromRing(next); next = new WorkCompletion()) {
      left.add(next);
    }
    publish(old);
  }

  /** A queue pair begins anew or ends, and the card adds nothing of it any more: what is there stays. */
  void keep() {
    if (lock.lock()) {
      moveAside();
      lock.unlock();
    }
  }

  /** Completes all sends of a queue pair for which the card has no completion any more. */
  void flushSends(IbQueuePair qp) {
    SendQueue sends = qp.sends();
    if (lock.lock()) {
      moveAside();
      boolean any = sends.isOutstanding();
      while (sends.isOutstanding()) {
        int index = sends.oldest();
        left.add(flushed(sends.wrId(index), sends.opcode(index), qp));
        sends.completed(index);
      }
      lock.unlock();
      if (any) {
        notifyCompletion();
      }
    }
  }

  /** The same for receives. */
  void flushReceives(IbQueuePair qp) {
    ReceiveQueue receives = qp.receives();
    if (lock.lock()) {
      moveAside();
      boolean any = receives.outstanding() > 0;
      while (receives.outstanding() > 0) {
        left.add(flushed(receives.completed(), WcOpcode.RECV, qp));
      }
      lock.unlock();
      if (any) {
        notifyCompletion();
      }
    }
  }

  private static WorkCompletion flushed(long wrId, WcOpcode opcode, IbQueuePair qp) {
    WorkCompletion completion = new WorkCompletion();
    completion.set(wrId, WcStatus.WR_FLUSH_ERR, opcode, 0, 0, 0, qp.number(), 0, 0, 0, PORT);
    return completion;
  }

  /** Whether the card has written the completion of the last send of a queue pair, or it was taken already. */
  boolean hasAllSends(IbQueuePair qp) {
    if (!lock.lock()) {
      return true;
    }
    try {
      boolean all = !qp.sends().isOutstanding();
      for (int i = consumer; !all && isInRing() && opcode(i) >= 0; i++) {
        long at = place(i);
        all =
            CompletionEntry.isOfSend(opcode(i))
                && CompletionEntry.qpNumber(ring, at) == qp.number()
                && qp.sends().index(CompletionEntry.counter(ring, at)) == qp.sends().newest();
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** The same for its receives. */
  boolean hasAllReceives(IbQueuePair qp) {
    if (!lock.lock()) {
      return true;
    }
    try {
      int missing = qp.receives().outstanding();
      for (int i = consumer; missing > 0 && isInRing() && opcode(i) >= 0; i++) {
        if (!CompletionEntry.isOfSend(opcode(i)) && CompletionEntry.qpNumber(ring, place(i)) == qp.number()) {
          missing--;
        }
      }
      return missing == 0;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletionCursor cursor() {
    return cursor;
  }

  /**
   * The card raises the event at once where it has written more than the consumer index that comes with the arming, so
   * none is lost; the record is written before the register, since the card reads it again.
   */
  @Override
  public boolean requestNotify(CqNotify which, boolean reportMissed) {
    End now = end;
    if (now == End.DETACHED || now == End.DESTROYED) {
      throw failure(now);
    }
    if (!lock.lock()) {
      return false;
    }
    try {
      if (!isInRing()) {
        throw failure(end);
      }
      int sequence = parts.core.armSequence();
      if (which == CqNotify.NEXT_COMP || !armedForAll || armedSequence != sequence) {
        armedForAll = which == CqNotify.NEXT_COMP;
        armedSequence = sequence;
        int command =
            (sequence & 3) << SEQUENCE_SHIFT
                | (which == CqNotify.NEXT_COMP ? 0 : SOLICITED_ONLY)
                | consumer & COUNT_MASK;
        BigEndian.RECORD.setRelease(parts.record.segment(), parts.record.offset() + ARM_RECORD, command);
        VarHandle.fullFence();
        parts.core.uar().armCompletionQueue(command, parts.core.number());
      }
      return reportMissed && (!left.isEmpty() || opcode(consumer) >= 0);
    } finally {
      lock.unlock();
    }
  }

  private void failed() {
    end = End.OVERFLOWED;
    raise(AsyncEventType.CQ_ERR);
  }

  private VerbsException failure(End why) {
    return switch (why) {
      case DESTROYED -> new VerbsException(Errno.EINVAL, this + " is destroyed");
      case OVERFLOWED ->
          new VerbsException(
              Errno.EIO, this + " overflowed its " + entries() + " entries; completions were lost, create it larger");
      default -> new VerbsException(Errno.EIO, this + " is empty and its device was removed");
    };
  }

  @Override
  protected void doDetach() {
    finish(End.DETACHED);
  }

  @Override
  protected void doDestroy() {
    finish(End.DESTROYED);
  }

  /** After this the card knows nothing of the queue and its memory is gone; what is left is in the host's list. */
  private void finish(End how) {
    boolean known = isInRing();
    if (known) {
      device.giveBack("completion queue", parts.core::destroy);
    }
    if (lock.lock()) {
      if (known && how == End.DETACHED) {
        moveAside();
      }
      end = how;
      lock.unlock();
    }
    if (known) {
      parts.record.close();
      parts.buffer.close();
    }
  }

  /** Completions one by one, each taken when the cursor moves to it. */
  private final class Cursor implements CompletionCursor {
    private final WorkCompletion[] current = WorkCompletion.batch(1);

    @Override
    public boolean start() {
      return poll(current, 1) == 1;
    }

    @Override
    public boolean next() {
      if (!lock.lock()) {
        return false;
      }
      int old = consumer;
      try {
        return take(current[0]);
      } finally {
        publish(old);
        lock.unlock();
      }
    }

    @Override
    public void end() {
      // Each was given back when it was taken.
    }

    @Override
    public long wrId() {
      return current[0].wrId();
    }

    @Override
    public WcStatus status() {
      return current[0].status();
    }

    @Override
    public WcOpcode opcode() {
      return current[0].opcode();
    }

    @Override
    public int vendorError() {
      return current[0].vendorError();
    }

    @Override
    public int byteLength() {
      return current[0].byteLength();
    }

    @Override
    public int immediate() {
      return current[0].immediate();
    }

    @Override
    public int invalidatedRkey() {
      return current[0].invalidatedRkey();
    }

    @Override
    public int qpNumber() {
      return current[0].qpNumber();
    }

    @Override
    public int sourceQp() {
      return current[0].sourceQp();
    }

    @Override
    public int flags() {
      return current[0].flags();
    }

    @Override
    public int pkeyIndex() {
      return current[0].pkeyIndex();
    }

    @Override
    public int portNumber() {
      return current[0].portNumber();
    }
  }
}
