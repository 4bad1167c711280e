package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqAttributes;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.rxe.ring.ReceiveRing;

/** A shared receive queue (kernel: {@code struct rxe_srq}). Posting is safe for any thread. */
final class RxeSharedReceiveQueue extends SharedReceiveQueue {
  /** The engine's side. */
  private final class Source implements ReceiveSource {
    @Override
    public boolean take(ReceiveWork work) {
      boolean taken = receives.take(work);
      int least = limit;
      if (taken && least > 0 && receives.size() < least) {
        limit = 0;
        raise(AsyncEventType.SRQ_LIMIT_REACHED);
      }
      return taken;
    }

    @Override
    public boolean isShared() {
      return true;
    }
  }

  private final RxeDevice device;
  private final ReceiveRing receives;
  private final ReceivePosting posting;
  private final Source source = new Source();
  private volatile int limit; // written by the engine, and for it

  RxeSharedReceiveQueue(ObjectContext owner, RxeDevice device, int number, ReceiveRing receives, int limit) {
    super(owner, number);
    this.device = device;
    this.receives = receives;
    this.posting = new ReceivePosting(this, receives);
    this.limit = limit;
  }

  ReceiveSource source() {
    return source;
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    posting.post(chain);
  }

  @Override
  protected void doModifyLimit(int least) {
    device.engine().run(() -> limit = least);
  }

  @Override
  protected SrqAttributes doQuery() {
    return new SrqAttributes(receives.ring().capacity(), receives.maxSge(), limit);
  }

  @Override
  protected void doDestroy() {
    receives.ring().close();
    device.releaseSrq(srqNumber());
  }
}
