package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ObjectContext;

/** A registered memory region (kernel: {@code struct rxe_mr}). */
final class RxeMemoryRegion extends MemoryRegion {
  private final RxeDevice device;

  RxeMemoryRegion(ObjectContext owner, RxeDevice device, int lkey, int rkey) {
    super(owner, lkey, rkey);
    this.device = device;
  }

  /** The engine forgets the key between two duty cycles, so no copy is under way when this returns. */
  @Override
  protected void doDestroy() {
    device.engine().run(() -> device.keys().release(lkey()));
  }
}
