package org.rdma4j.ib.core.verbs;

/** A user's handle on a target queue pair that may be shared: what it is asked for, the shared one does. */
final class XrcTargetHandle extends QueuePair {
  private final XrcTarget target;
  private final QueuePair shared;

  XrcTargetHandle(ObjectContext owner, XrcTarget target, QueuePair shared) {
    super(owner, ObjectKind.QUEUE_PAIR_HANDLE, shared.number(), shared.capabilities());
    this.target = target;
    this.shared = shared;
  }

  @Override
  QueuePair real() {
    return shared;
  }

  @Override
  public void postSend(SendWorkRequest chain) {
    throw new PostException(Errno.EINVAL, this + " is the target of an XRC connection and has no send queue", chain);
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    throw new PostException(
        Errno.EINVAL, this + " takes receives of the shared queues of its XRC domain; post there", chain);
  }

  @Override
  public WorkRequestBuilder workRequests() {
    throw new VerbsException(Errno.EINVAL, this + " is the target of an XRC connection and has no send queue");
  }

  @Override
  protected void doModify(QpAttributes attributes) {
    throw new IllegalStateException(); // The shared one is modified.
  }

  @Override
  protected QpAttributes doQuery() {
    throw new IllegalStateException(); // The shared one is queried.
  }

  @Override
  protected String doExplain() {
    return shared.doExplain();
  }

  @Override
  protected boolean doDrain(long timeoutNanos) {
    throw new IllegalStateException(); // The shared one is drained.
  }

  /** The shared one is flushed by itself. */
  @Override
  protected void doQuiesce() {}

  @Override
  protected void doDestroy() {
    target.close(this);
  }
}
