package org.rdma4j.ulp.provider;

import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/**
 * A completion queue. What was put in stays to be polled when the device is gone; polling says so when it is empty. A
 * provider for speed has a ring here, and neither a lock nor an object for each completion.
 */
final class LoopCq extends CompletionQueue {
  private enum End {
    NONE,
    OVERFLOWED,
    DETACHED,
    DESTROYED
  }

  private final LoopDevice device;
  private final int number;
  private final CompletionCursor cursor = new LoopCursor(this);
  private final Deque<WorkCompletion> queue = new ArrayDeque<>(); // this and the following: guarded by queue
  private int capacity;
  private CqNotify armed;
  private End end = End.NONE;

  LoopCq(ObjectContext owner, LoopDevice device, int number, int entries) {
    super(owner, entries);
    this.device = device;
    this.number = number;
    this.capacity = entries;
  }

  /** Adds a completion; one that finds no room is lost, and with it the queue. Under the lock of the wire. */
  void add(WorkCompletion completion, boolean solicited) {
    boolean overflows = false;
    boolean raises = false;
    synchronized (queue) {
      if (end != End.NONE) {
        return;
      }
      if (queue.size() == capacity) {
        end = End.OVERFLOWED;
        overflows = true;
      } else {
        queue.add(completion);
        boolean error = completion.status() != WcStatus.SUCCESS;
        raises = armed == CqNotify.NEXT_COMP || (armed == CqNotify.SOLICITED && (solicited || error));
        armed = raises ? null : armed;
      }
    }
    if (raises) {
      notifyCompletion();
    }
    if (overflows) {
      raise(AsyncEventType.CQ_ERR);
      device.qps().all().stream().filter(qp -> qp.sendCq() == this || qp.recvCq() == this).forEach(LoopQp::fail);
    }
  }

  @Override
  public int poll(WorkCompletion[] batch, int max) {
    synchronized (queue) {
      int count = 0;
      while (count < Math.min(max, batch.length) && !queue.isEmpty()) {
        copy(queue.remove(), batch[count++]);
      }
      if (count == 0 && max > 0 && end != End.NONE) {
        throw failure();
      }
      return count;
    }
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

  private VerbsException failure() {
    return switch (end) {
      case DESTROYED -> new VerbsException(Errno.EINVAL, this + " is destroyed");
      case OVERFLOWED -> new VerbsException(Errno.EIO, this + " overflowed its " + capacity + " entries");
      default -> new VerbsException(Errno.EIO, this + " is empty and its device was removed");
    };
  }

  @Override
  public CompletionCursor cursor() {
    return cursor;
  }

  @Override
  public boolean requestNotify(CqNotify which, boolean reportMissed) {
    synchronized (queue) {
      if (end == End.DETACHED || end == End.DESTROYED) {
        throw failure();
      }
      armed = armed == CqNotify.NEXT_COMP ? armed : which;
      return reportMissed && !queue.isEmpty();
    }
  }

  @Override
  protected int doResize(int newEntries) {
    synchronized (queue) {
      if (queue.size() > newEntries) {
        throw new VerbsException(Errno.EINVAL, this + " holds " + queue.size() + " completions");
      }
      capacity = newEntries;
      return capacity;
    }
  }

  @Override
  protected void doDetach() {
    synchronized (queue) {
      end = End.DETACHED;
    }
    device.cqs().remove(number);
  }

  @Override
  protected void doDestroy() {
    boolean known;
    synchronized (queue) {
      known = end != End.DETACHED;
      end = End.DESTROYED;
      queue.clear();
    }
    if (known) {
      device.cqs().remove(number);
    }
  }
}
