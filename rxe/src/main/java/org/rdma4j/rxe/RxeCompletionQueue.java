package org.rdma4j.rxe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PollStreak;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.rxe.ring.CompletionRing;
import org.rdma4j.rxe.ring.RingCursor;

/**
 * A completion queue (kernel: {@code struct rxe_cq}). The engine alone adds; any number of threads poll and arm.
 *
 * <p>No event is lost: the engine publishes an entry, then reads the arming; a consumer arms, then looks for
 * entries. Both pairs are volatile accesses, which have one order that all threads agree on, so at least one of the
 * two sees what the other did: either the engine finds the queue armed and raises the event, or the consumer finds
 * the entry.
 */
final class RxeCompletionQueue extends CompletionQueue {
  private static final int DISARMED = 0;
  private static final int SOLICITED = 1;
  private static final int NEXT_COMP = 2;
  private static final VarHandle ARMED;

  static {
    try {
      ARMED = MethodHandles.lookup().findVarHandle(RxeCompletionQueue.class, "armed", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What became of the queue besides holding entries. */
  private enum End {
    NONE,
    OVERFLOWED,
    DETACHED,
    DESTROYED
  }

  private final RxeDevice device;
  private final int number;
  private final boolean raisesEvents;
  private final CompletionCursor cursor;
  private final List<RxeQueuePair> queuePairs = new ArrayList<>(); // engine only
  private final PollStreak streak = new PollStreak();

  @SuppressWarnings("unused") // Through ARMED.
  private volatile int armed;

  private volatile CompletionRing ring; // changed by the engine
  private volatile End end = End.NONE;

  RxeCompletionQueue(ObjectContext owner, RxeDevice device, int number, CompletionRing ring) {
    super(owner, ring.capacity());
    this.device = device;
    this.number = number;
    this.ring = ring;
    this.raisesEvents = channel() != null;
    this.cursor = new RingCursor(() -> this.ring, this::checkEmpty);
  }

  @Override
  public int poll(WorkCompletion[] batch, int max) {
    End before = end;
    if (before == End.DESTROYED) {
      throw failure(before);
    }
    int limit = Math.min(max, batch.length);
    int count = take(batch, limit);
    if (count == 0 && before == End.NONE && helps()) {
      count = take(batch, limit);
    }
    if (count == 0 && before != End.NONE && max > 0) {
      throw failure(before);
    }
    return count;
  }

  private int take(WorkCompletion[] batch, int limit) {
    int count = ring.poll(batch, limit);
    while (count == CompletionRing.MOVED) {
      Thread.onSpinWait();
      count = ring.poll(batch, limit);
    }
    return count;
  }

  @Override
  public CompletionCursor cursor() {
    return cursor;
  }

  /** The cursor has found nothing. */
  private void checkEmpty() {
    End now = end;
    if (now != End.NONE && ring.size() == 0) {
      throw failure(now);
    }
    if (now == End.NONE) {
      helps();
    }
  }

  /** Who polls without end drives the engine meanwhile; whether he has. */
  private boolean helps() {
    long now = System.nanoTime();
    if (!streak.goesOn(now)) {
      return false;
    }
    boolean worked = device.help(now);
    streak.helped(System.nanoTime());
    return worked;
  }

  @Override
  public boolean requestNotify(CqNotify which, boolean reportMissed) {
    End now = end;
    if (now == End.DETACHED || now == End.DESTROYED) {
      throw failure(now);
    }
    if (streak.ends()) {
      device.recall();
    }
    int wanted = which == CqNotify.NEXT_COMP ? NEXT_COMP : SOLICITED;
    int current = armed;
    while (current < wanted && !ARMED.compareAndSet(this, current, wanted)) {
      current = armed;
    }
    return reportMissed && ring.size() > 0;
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

  /** Adds a completion. Engine thread. */
  void add(Completion completion, boolean solicited) {
    if (end != End.NONE) {
      device.completionLost();
    } else if (!ring.add(completion, raisesEvents)) {
      device.completionLost();
      overflow();
    } else if (raisesEvents) {
      int now = armed;
      if (now == NEXT_COMP
          || (now == SOLICITED && (solicited || completion.status != CompletionStatus.SUCCESS))) {
        armed = DISARMED;
        notifyCompletion();
      }
    }
  }

  /**
   * IBA specification section 11.6.3.1: a queue that overflowed reports nothing any more, and the queue pairs that
   * use it go into error. They do so in the next duty cycle, since one of them is at work now.
   */
  private void overflow() {
    end = End.OVERFLOWED;
    raise(AsyncEventType.CQ_ERR);
    device.engine().defer(() -> List.copyOf(queuePairs).forEach(RxeQueuePair::failed));
  }

  /** A queue pair uses the queue from now on. Engine thread. */
  void attach(RxeQueuePair qp) {
    if (!queuePairs.contains(qp)) {
      queuePairs.add(qp);
    }
  }

  /** A queue pair is gone. Engine thread. */
  void detach(RxeQueuePair qp) {
    queuePairs.remove(qp);
  }

  @Override
  protected int doResize(int newEntries) {
    CompletionRing larger = new CompletionRing(newEntries);
    boolean moved = device.engine().call(() -> moveTo(larger));
    if (!moved) {
      throw new VerbsException(
          Errno.EINVAL, this + " holds more completions than the " + larger.capacity() + " it would have room for");
    }
    return larger.capacity();
  }

  private boolean moveTo(CompletionRing next) {
    boolean moved = ring.moveTo(next);
    if (moved) {
      ring = next;
    }
    return moved;
  }

  /** After this the engine does not add any more: all queue pairs are gone. What is there belongs to the pollers. */
  @Override
  protected void doDetach() {
    end = End.DETACHED;
    device.releaseCq(number);
  }

  @Override
  protected void doDestroy() {
    boolean detached = end == End.DETACHED;
    end = End.DESTROYED;
    if (!detached) {
      device.releaseCq(number);
    }
  }
}
