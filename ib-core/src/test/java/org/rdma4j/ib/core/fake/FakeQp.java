package org.rdma4j.ib.core.fake;

import java.util.ArrayDeque;
import java.util.Queue;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.roce.address.Gid;

/** A queue pair that keeps what is posted until it is completed or flushed. */
public final class FakeQp extends QueuePair {
  private final FakeDevice device;
  private final Queue<Long> sends = new ArrayDeque<>();
  private final Queue<Long> receives = new ArrayDeque<>();
  private boolean quiet;
  private QpAttributes last = new QpAttributes();
  private RuntimeException modifyFailure;
  private RuntimeException destroyFailure;
  private Runnable inModify = () -> {};
  private volatile Runnable inQuiesce = () -> {};
  private volatile Runnable inDestroy = () -> {};

  FakeQp(ObjectContext owner, int number, QpInitAttributes init, FakeDevice device) {
    super(owner, number, init.capabilities());
    this.device = device;
  }

  /** {@return what the last modification gave the provider} */
  public QpAttributes last() {
    return last;
  }

  public void modifyFailure(RuntimeException failure) {
    this.modifyFailure = failure;
  }

  public void destroyFailure(RuntimeException failure) {
    this.destroyFailure = failure;
  }

  /** Runs inside every modification. */
  public void inModify(Runnable code) {
    this.inModify = code;
  }

  /** Runs at the begin of the flush. */
  public void inQuiesce(Runnable code) {
    this.inQuiesce = code;
  }

  /** Runs at the begin of every destruction. */
  public void inDestroy(Runnable code) {
    this.inDestroy = code;
  }

  public void report(QpState state) {
    stateChanged(state);
  }

  public void report(AsyncEventType type) {
    raise(type);
  }

  /** Completes the oldest send. */
  public synchronized boolean completeSend() {
    Long wrId = sends.poll();
    if (wrId != null) {
      ((FakeCq) sendCq()).complete(wrId, WcStatus.SUCCESS, WcOpcode.SEND, number());
    }
    return wrId != null;
  }

  @Override
  public synchronized void postSend(SendWorkRequest chain) {
    for (SendWorkRequest each = chain; each != null; each = each.next()) {
      if (quiet) {
        throw new PostException(Errno.EIO, this + ": the device was removed", each);
      }
      sends.add(each.wrId());
    }
  }

  @Override
  public synchronized void postReceive(ReceiveWorkRequest chain) {
    for (ReceiveWorkRequest each = chain; each != null; each = each.next()) {
      if (quiet) {
        throw new PostException(Errno.EIO, this + ": the device was removed", each);
      }
      receives.add(each.wrId());
    }
  }

  @Override
  public WorkRequestBuilder workRequests() {
    throw new VerbsException(Errno.EOPNOTSUPP, "no builder");
  }

  @Override
  protected void doModify(QpAttributes attributes) {
    inModify.run();
    if (modifyFailure != null) {
      throw modifyFailure;
    }
    last = attributes;
    if (attributes.state() == QpState.ERR) {
      flush();
    }
  }

  @Override
  protected QpAttributes doQuery() {
    return new QpAttributes(last);
  }

  @Override
  protected void doAttachMulticast(Gid group, int lid) {
    device.note("attach " + group + " " + lid);
  }

  @Override
  protected void doDetachMulticast(Gid group, int lid) {
    device.note("detach " + group + " " + lid);
  }

  @Override
  protected boolean doDrain(long timeoutNanos) {
    return true;
  }

  @Override
  protected void doQuiesce() {
    device.note("quiesce QP");
    inQuiesce.run();
    synchronized (this) {
      quiet = true;
    }
    flush();
  }

  private synchronized void flush() {
    while (!sends.isEmpty()) {
      ((FakeCq) sendCq()).complete(sends.remove(), WcStatus.WR_FLUSH_ERR, WcOpcode.SEND, number());
    }
    while (!receives.isEmpty()) {
      ((FakeCq) recvCq()).complete(receives.remove(), WcStatus.WR_FLUSH_ERR, WcOpcode.RECV, number());
    }
  }

  @Override
  protected void doDestroy() {
    inDestroy.run();
    if (destroyFailure != null) {
      throw destroyFailure;
    }
    device.gone("destroy QP");
  }
}
