package org.rdma4j.ulp.provider;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;

/** Registered memory. Its key is its number, and 8 bits that nobody can guess from it. */
final class LoopMr extends MemoryRegion {
  private final LoopDevice device;
  private final int number;
  private final MemorySegment memory;
  private final long iova;
  private final Set<Access> rights;

  LoopMr(
      ObjectContext owner, LoopDevice device, int number, MemorySegment memory, long iova, Set<Access> rights) {
    this(owner, device, number, number << 8 | ThreadLocalRandom.current().nextInt(256), memory, iova, rights);
  }

  private LoopMr(
      ObjectContext owner,
      LoopDevice device,
      int number,
      int key,
      MemorySegment memory,
      long iova,
      Set<Access> rights) {
    super(owner, key, key);
    this.device = device;
    this.number = number;
    this.memory = memory;
    this.iova = iova;
    this.rights = rights;
  }

  /** The bytes of a range, or null where the region does not allow this use of them. */
  MemorySegment slice(ProtectionDomain pd, long address, long length, Access needed) {
    long offset = address - iova;
    boolean inside = offset >= 0 && length <= memory.byteSize() - offset;
    boolean allowed = pd == protectionDomain() && (needed == null || rights.contains(needed));
    return inside && allowed && memory.scope().isAlive() ? memory.asSlice(offset, length) : null;
  }

  /** Under the lock of the wire, so nobody is copying when this returns. */
  @Override
  protected void doDestroy() {
    device.wire().run(() -> device.mrs().remove(number));
  }
}
