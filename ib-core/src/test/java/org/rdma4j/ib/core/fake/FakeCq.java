package org.rdma4j.ib.core.fake;

import java.util.ArrayDeque;
import java.util.Queue;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** A completion queue that keeps identifiers and statuses. */
public final class FakeCq extends CompletionQueue {
  private record Entry(long wrId, WcStatus status, WcOpcode opcode, int qp) {}

  private final FakeDevice device;
  private final Queue<Entry> queue = new ArrayDeque<>();
  private boolean armed;
  private boolean gone;

  FakeCq(ObjectContext owner, int entries, FakeDevice device) {
    super(owner, entries);
    this.device = device;
  }

  /** What the device would do when work ends. */
  public void complete(long wrId, WcStatus status, WcOpcode opcode, int qp) {
    boolean raise;
    synchronized (queue) {
      queue.add(new Entry(wrId, status, opcode, qp));
      raise = armed;
      armed = false;
    }
    if (raise) {
      notifyCompletion();
    }
  }

  /** What the device would do on an overflow. */
  public void overflow() {
    raise(AsyncEventType.CQ_ERR);
  }

  @Override
  public int poll(WorkCompletion[] batch, int max) {
    synchronized (queue) {
      if (queue.isEmpty() && gone) {
        throw new VerbsException(Errno.EIO, this + ": the device was removed");
      }
      int count = 0;
      while (count < max && !queue.isEmpty()) {
        Entry entry = queue.remove();
        batch[count++].set(entry.wrId, entry.status, entry.opcode, 0, 0, 0, entry.qp, 0, 0, 0, 1);
      }
      return count;
    }
  }

  @Override
  public CompletionCursor cursor() {
    throw new VerbsException(Errno.EOPNOTSUPP, "no cursor");
  }

  @Override
  public boolean requestNotify(CqNotify which, boolean reportMissed) {
    synchronized (queue) {
      armed = true;
      return reportMissed && !queue.isEmpty();
    }
  }

  @Override
  protected void doDetach() {
    device.gone("detach CQ");
    synchronized (queue) {
      gone = true;
    }
  }

  @Override
  protected void doDestroy() {
    synchronized (queue) {
      if (!gone) {
        device.gone("destroy CQ");
      }
      gone = true;
      queue.clear();
    }
  }
}
