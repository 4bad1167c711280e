package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendWorkRequest;

/** A memory window (kernel: {@code struct rxe_mw}). Binds and invalidations are executed by the engine. */
final class RxeMemoryWindow extends MemoryWindow {
  private final RxeDevice device;
  private final WindowMemory memory;
  private int lastKey; // of the last bind posted, type 1 only; under the object's control lock
  private volatile boolean destroyed;

  RxeMemoryWindow(ObjectContext owner, RxeDevice device, MwType type, WindowMemory memory) {
    super(owner, type);
    this.device = device;
    this.memory = memory;
    this.lastKey = memory.key();
    memory.owner(this);
  }

  RxeDevice device() {
    return device;
  }

  /** What names the window in a bind. */
  int name() {
    return memory.name();
  }

  boolean isDestroyed() {
    return destroyed;
  }

  @Override
  public int rkey() {
    return memory.key();
  }

  @Override
  protected int doBind(QueuePair qp, long wrId, int flags, MwBindInfo info) {
    int key = Rkeys.increment(lastKey);
    ((RxeQueuePair) qp).postBind(new SendWorkRequest().wrId(wrId).flags(flags).bindMw(this, key, info));
    lastKey = key;
    return key;
  }

  /** The engine forgets the key between two duty cycles, so no access through it is under way when this returns. */
  @Override
  protected void doDestroy() {
    destroyed = true;
    device
        .engine()
        .run(
            () -> {
              memory.unbind();
              device.keys().release(memory.name());
            });
  }
}
