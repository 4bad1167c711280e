package org.rdma4j.ib.core.fake;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqAttributes;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;

/** A shared receive queue that forgets what is posted. */
public final class FakeSrq extends SharedReceiveQueue {
  private final FakeDevice device;
  private final int maxWr;
  private final int maxSge;
  private int limit;

  FakeSrq(ObjectContext owner, SrqInitAttributes init, FakeDevice device) {
    super(owner, 1);
    this.device = device;
    this.maxWr = init.maxWr();
    this.maxSge = init.maxSge();
    this.limit = init.limit();
  }

  /** What the device would do below the limit. */
  public void belowLimit() {
    limit = 0;
    raise(AsyncEventType.SRQ_LIMIT_REACHED);
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {}

  @Override
  protected void doModifyLimit(int newLimit) {
    limit = newLimit;
  }

  @Override
  protected SrqAttributes doQuery() {
    return new SrqAttributes(maxWr, maxSge, limit);
  }

  @Override
  protected void doDestroy() {
    device.gone("destroy SRQ");
  }
}
