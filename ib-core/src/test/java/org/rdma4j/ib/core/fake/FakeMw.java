package org.rdma4j.ib.core.fake;

import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.Rkeys;

/** A memory window that is bound as soon as asked for. */
public final class FakeMw extends MemoryWindow {
  private final FakeDevice device;
  private int rkey;

  FakeMw(ObjectContext owner, MwType type, int rkey, FakeDevice device) {
    super(owner, type);
    this.rkey = rkey;
    this.device = device;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  protected int doBind(QueuePair qp, long wrId, int flags, MwBindInfo info) {
    device.note("bind MW to " + info.length() + " bytes");
    rkey = Rkeys.increment(rkey);
    return rkey;
  }

  @Override
  protected void doDestroy() {
    device.gone("destroy MW");
  }
}
