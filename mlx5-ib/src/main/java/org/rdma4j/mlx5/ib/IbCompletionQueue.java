package org.rdma4j.mlx5.ib;

import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PollStreak;
import org.rdma4j.ib.core.verbs.QueueLock;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CompletionQueueCommands;
import org.rdma4j.mlx5.core.CoreCompletionQueue;

/**
 * A completion queue (kernel: {@code struct mlx5_ib_cq}): a ring that the card writes and any number of threads poll.
 *
 * <p>When a queue pair ends, or the device goes, what the card has written so far moves into a list of the host, behind
 * which the flushed work is put; so nothing is lost, nothing comes twice, and the order stays.
 */
final class IbCompletionQueue extends CompletionQueue {
  private static final int ANY = 0;
  private static final int SOLICITED_ONLY = 1 << 24;

  /** What became of the queue besides holding entries. */
  private enum End {
    NONE,
    OVERFLOWED,
    DETACHED,
    DESTROYED
  }

  /** Hears of a queue before anybody knows it. */
  private static final class Handler implements CompletionHandler {
    private volatile IbCompletionQueue queue;

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
  private final CoreCompletionQueue core;
  private final CompletionRing ring;
  private final CompletionReader reader;
  private final QueueTrace trace;
  private final QueueLock lock = new QueueLock();
  private final Deque<WorkCompletion> left = new ArrayDeque<>();
  private final IbCompletionCursor cursor = new IbCompletionCursor(this);
  private final PollStreak streak = new PollStreak();
  private boolean armedForAll;
  private int armedSequence = -1;
  private volatile End end = End.NONE;

  private IbCompletionQueue(
      ObjectContext owner, ConnectxDevice device, CoreCompletionQueue core, CompletionRing ring) {
    super(owner, ring.capacity());
    this.device = device;
    this.core = core;
    this.ring = ring;
    this.reader = new CompletionReader(device);
    this.trace = new QueueTrace(device, this);
  }

  static IbCompletionQueue create(ObjectContext owner, ConnectxDevice device, CqInitAttributes attributes) {
    CompletionRing ring = CompletionRing.allocate(device.core(), attributes.entries());
    Handler handler = new Handler();
    CoreCompletionQueue core = null;
    boolean made = false;
    try {
      int vector = attributes.vector() % device.core().completionVectors();
      core =
          Errors.translated(
              () -> device.core().createCompletionQueue(ring.creation(device.core()), vector, handler));
      IbCompletionQueue queue = new IbCompletionQueue(owner, device, core, ring);
      handler.queue = queue;
      made = true;
      return queue;
    } finally {
      if (!made) {
        if (core != null) {
          device.giveBack("completion queue", core::destroy);
        }
        ring.close();
      }
    }
  }

  /** The card's number of the queue. */
  int number() {
    return core.number();
  }

  @Override
  public int poll(WorkCompletion[] batch, int max) {
    End before = end;
    if (before == End.DESTROYED) {
      throw failure(before);
    }
    int limit = Math.min(max, batch.length);
    int count = takeAny(batch, limit);
    if (count == 0 && limit > 0 && before == End.NONE && helps()) {
      count = takeAny(batch, limit);
    }
    if (count == 0 && before != End.NONE && max > 0) {
      throw failure(before);
    }
    return count;
  }

  /** Who polls without end lets the card get on meanwhile; whether it has. */
  private boolean helps() {
    if (!streak.goesOn(System.nanoTime())) {
      return false;
    }
    boolean worked = device.core().relax();
    streak.helped(System.nanoTime());
    return worked;
  }

  /** Takes what is there, whatever became of the queue. */
  int takeAny(WorkCompletion[] batch, int limit) {
    int count = 0;
    if (lock.lock()) {
      try {
        while (count < limit && take(batch[count])) {
          count++;
        }
      } finally {
        publish();
        lock.unlock();
      }
    }
    return count;
  }

  private void publish() {
    if (isInRing()) {
      ring.publish();
    }
  }

  private boolean take(WorkCompletion to) {
    WorkCompletion first = left.poll();
    if (first != null) {
      CompletionReader.copy(first, to);
      return true;
    }
    return takeFromRing(to);
  }

  private boolean isInRing() {
    return end != End.DETACHED && end != End.DESTROYED;
  }

  private boolean takeFromRing(WorkCompletion to) {
    while (isInRing()) {
      int opcode = ring.opcode();
      if (opcode < 0) {
        return false;
      }
      if (opcode == CompletionEntry.RESIZE) {
        ring.turn();
        continue;
      }
      long at = ring.at();
      ring.advance();
      if (trace.isOn()) {
        trace.completed(ring.entries().asSlice(at, CompletionEntry.BYTES));
      }
      if (reader.read(ring.entries(), at, opcode, to)) {
        return true;
      }
      // Of a queue pair that is gone, whose completions were moved before.
    }
    return false;
  }

  /** Moves what the card has written into the list of the host; for the holder of the lock. */
  private void moveAside() {
    for (WorkCompletion next = new WorkCompletion(); takeFromRing(next); next = new WorkCompletion()) {
      left.add(next);
    }
    publish();
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
        left.add(CompletionReader.flushed(sends.wrId(index), sends.opcode(index), qp));
        sends.completed(index, false);
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
        left.add(CompletionReader.flushed(receives.completed(), WcOpcode.RECV, qp));
      }
      lock.unlock();
      if (any) {
        notifyCompletion();
      }
    }
  }

  /**
   * Whether the card has written the completion of the last send of a queue pair, or it was taken already, or will
   * write none.
   */
  boolean hasAllSends(IbQueuePair qp) {
    if (end != End.NONE || !lock.lock()) {
      return true;
    }
    try {
      boolean all = !qp.sends().isOutstanding();
      for (int i = 0; !all && isInRing() && ring.opcode(i) >= 0; i++) {
        long at = ring.at(i);
        all =
            CompletionEntry.isOfSend(ring.opcode(i))
                && CompletionEntry.qpNumber(ring.entries(), at) == qp.cardNumber()
                && qp.sends().index(CompletionEntry.counter(ring.entries(), at)) == qp.sends().newest();
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** The same for its receives. */
  boolean hasAllReceives(IbQueuePair qp) {
    if (end != End.NONE || !lock.lock()) {
      return true;
    }
    try {
      int missing = qp.receives().outstanding();
      for (int i = 0; missing > 0 && isInRing() && ring.opcode(i) >= 0; i++) {
        if (!CompletionEntry.isOfSend(ring.opcode(i))
            && CompletionEntry.qpNumber(ring.entries(), ring.at(i)) == qp.cardNumber()) {
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
   * none is lost.
   */
  @Override
  public boolean requestNotify(CqNotify which, boolean reportMissed) {
    End now = end;
    if (now == End.DETACHED || now == End.DESTROYED) {
      throw failure(now);
    }
    streak.ends();
    if (!lock.lock()) {
      return false;
    }
    try {
      if (!isInRing()) {
        throw failure(end);
      }
      int sequence = core.armSequence();
      boolean all = which == CqNotify.NEXT_COMP;
      if (all || !armedForAll || armedSequence != sequence) {
        armedForAll = all;
        armedSequence = sequence;
        ring.arm(core.uar(), core.number(), sequence, all ? ANY : SOLICITED_ONLY);
      }
      return reportMissed && (!left.isEmpty() || ring.opcode() >= 0);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The card ends its room with an entry that says so and goes on in the other. Who polls meanwhile goes over there by
   * himself; else what is left is taken along ({@code cq.c:mlx5_ib_resize_cq}).
   */
  @Override
  protected int doResize(int newEntries) {
    if (!device.core().capabilities().has("cq_resize")) {
      return super.doResize(newEntries);
    }
    int logSize = CompletionRoom.logSize(newEntries);
    CompletionRoom old = ring.room();
    if (logSize == old.logSize()) {
      return ring.capacity();
    }
    CompletionRoom wider = CompletionRoom.allocate(device.core(), logSize);
    boolean done = false;
    try {
      expect(wider);
      Errors.translatedRun(
          () ->
              CompletionQueueCommands.resize(
                  device.core(), core.number(), wider.buffer(), context -> context.set("log_cq_size", logSize)));
      done = true;
    } finally {
      (settle(wider, done) ? old : wider).close();
    }
    return ring.capacity();
  }

  private void expect(CompletionRoom wider) {
    if (lock.lock()) {
      ring.expect(wider);
      lock.unlock();
    }
  }

  /** Whether the queue is in its new room. */
  private boolean settle(CompletionRoom wider, boolean done) {
    if (!lock.lock()) {
      return false;
    }
    try {
      if (isInRing() && done && !ring.room().equals(wider)) {
        ring.carryOver();
      }
      ring.expectNothing();
      return ring.room().equals(wider);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The card has put the queue into error, and the queue pairs whose completions it lost before: it says so when they
   * are queried ({@code main.c:mlx5_ib_cq_event}).
   */
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
      device.giveBack("completion queue", core::destroy);
    }
    if (lock.lock()) {
      if (known && how == End.DETACHED) {
        moveAside();
      }
      end = how;
      lock.unlock();
    }
    if (known) {
      ring.close();
    }
  }
}
