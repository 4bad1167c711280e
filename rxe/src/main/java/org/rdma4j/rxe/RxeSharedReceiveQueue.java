package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqAttributes;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.roce.engine.XrcReceiveSource;
import org.rdma4j.rxe.ring.ReceiveRing;

/** A shared receive queue (kernel: {@code struct rxe_srq}). Posting is safe for any thread. */
final class RxeSharedReceiveQueue extends SharedReceiveQueue {
  /** The engine's side. */
  private final class Source implements XrcReceiveSource {
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
    public int protectionDomain() {
      return domain;
    }

    /** Targets do not pin the queue: it may have gone, and its completion queue with it, while one held a receive. */
    @Override
    public void completeReceive(Completion completion, boolean solicited) {
      if (!gone) {
        completions.add(completion, solicited);
      }
    }
  }

  private final RxeDevice device;
  private final ReceivePosting posting;
  private final Source source = new Source();
  private final int domain;
  private final int xrcd; // 0 for a queue that is of no XRC domain
  private final RxeCompletionQueue completions; // the same: null
  private boolean gone; // engine's thread
  private volatile ReceiveRing receives; // this and the following: changed by the engine
  private volatile int limit;

  RxeSharedReceiveQueue(
      ObjectContext owner,
      RxeDevice device,
      int number,
      ReceiveRing receives,
      int domain,
      SrqInitAttributes attributes) {
    super(owner, number);
    this.domain = domain;
    this.xrcd = attributes.xrcd() == null ? 0 : attributes.xrcd().number();
    this.completions = (RxeCompletionQueue) attributes.cq();
    this.device = device;
    this.receives = receives;
    this.posting = new ReceivePosting(this, receives);
    this.limit = attributes.limit();
  }

  XrcReceiveSource source() {
    return source;
  }

  /** The number of its XRC domain, or 0. */
  int xrcDomain() {
    return xrcd;
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

  private void leaveDomain() {
    gone = true;
    device.forgetXrcQueue(srqNumber());
  }

  @Override
  protected void doDestroy() {
    receives.ring().close();
    if (xrcd != 0) {
      device.engine().run(this::leaveDomain);
    }
    device.releaseSrq(srqNumber());
  }
}
