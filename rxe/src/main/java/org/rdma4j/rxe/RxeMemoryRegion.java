package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.VerbsException;

/** A memory region (kernel: {@code struct rxe_mr}). Its memory belongs to the engine's thread. */
final class RxeMemoryRegion extends MemoryRegion {
  private final RxeDevice device;
  private final int name;
  private final RegionMemory memory;

  RxeMemoryRegion(ObjectContext owner, RxeDevice device, int lkey, int rkey, RegionMemory memory) {
    super(owner, lkey, rkey);
    this.device = device;
    this.name = lkey;
    this.memory = memory;
  }

  RxeDevice device() {
    return device;
  }

  /** The key that the region was made with. */
  int name() {
    return name;
  }

  @Override
  protected void doMap(MrMapping pieces) {
    ((FastMemory) memory).map(pieces);
  }

  /** The engine forgets the key between two duty cycles, so no copy is under way when this returns. */
  @Override
  protected void doDestroy() {
    device.engine().run(this::forget);
  }

  private void forget() {
    if (!memory.windows().isEmpty()) {
      throw new VerbsException(Errno.EBUSY, this + " is used by the memory windows bound to it: " + memory.windows());
    }
    device.keys().release(name);
  }
}
