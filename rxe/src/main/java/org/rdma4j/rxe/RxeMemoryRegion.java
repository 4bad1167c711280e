package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.VerbsException;

/** A memory region (kernel: {@code struct rxe_mr}). Its memory belongs to the engine's thread. */
final class RxeMemoryRegion extends MemoryRegion {
  private final RxeDevice device;
  private final int name;
  private RegionMemory memory; // changed on the engine's thread

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

  /** Between two duty cycles, so that no request meets a mixture of old and new. */
  @Override
  protected void doReregister(ProtectionDomain pd, MemorySegment segment, long iova, Set<Access> access) {
    SegmentMemory.checkRights(segment, access);
    boolean sameMemory = pd == protectionDomain() && segment.equals(segment()) && iova == address();
    int key = sameMemory ? lkey() : device.keys().another(lkey());
    int domain = ((RxeProtectionDomain) pd).number();
    SegmentMemory next = new SegmentMemory(segment, iova, key, domain, access);
    device.engine().run(() -> replace(key, next));
    keys(key, RegionMemory.remoteKey(key, access));
  }

  private void replace(int key, RegionMemory next) {
    checkNoWindows();
    device.keys().put(key, next);
    memory = next;
  }

  /** The engine forgets the key between two duty cycles, so no copy is under way when this returns. */
  @Override
  protected void doDestroy() {
    device.engine().run(this::forget);
  }

  private void forget() {
    checkNoWindows();
    device.keys().release(name);
  }

  private void checkNoWindows() {
    if (!memory.windows().isEmpty()) {
      throw new VerbsException(Errno.EBUSY, this + " is used by the memory windows bound to it: " + memory.windows());
    }
  }
}
