package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.rxe.ring.ReceiveRing;

/** A shared receive queue (kernel: {@code struct rxe_srq}). Posting is safe for any thread. */
final class RxeSharedReceiveQueue extends SharedReceiveQueue {
  /** The engine's side. */
  private final class Source implements ReceiveSource {
    @Override
    public boolean take(ReceiveWork work) {
      ReceiveRing from = receives;
      boolean taken = from.take(work);
      int least = limit;
      if (taken && least > 0 && from.size() < least) {
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
  private final ReceivePosting posting;
  private final Source source = new Source();
  private volatile ReceiveRing receives; // this and the following: changed by the engine
  private volatile int limit;

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

  /** Posters wait while the requests move, and then find the new ring. */
  @Override
  protected void doResize(int maxWr) {
    ReceiveRing old = receives;
    ReceiveRing next = new ReceiveRing(maxWr, old.maxSge());
    if (limit > next.ring().capacity()) {
      throw new VerbsException(Errno.EINVAL, "the limit " + limit + " of " + this + " exceeds the new size " + maxWr);
    }
    if (!old.ring().lock()) {
      throw new VerbsException(Errno.EIO, this + " is destroyed");
    }
    boolean moved = false;
    try {
      moved = device.engine().call(() -> moveTo(next));
    } finally {
      if (moved) {
        old.ring().unlockClosed();
      } else {
        old.ring().unlock();
      }
    }
    if (!moved) {
      throw new VerbsException(Errno.EINVAL, this + " holds more receives than the " + maxWr + " asked for");
    }
  }

  private boolean moveTo(ReceiveRing next) {
    boolean moved = receives.moveTo(next);
    if (moved) {
      receives = next;
      posting.replace(next);
    }
    return moved;
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
