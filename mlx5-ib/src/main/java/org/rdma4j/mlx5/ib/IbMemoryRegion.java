package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.MemoryKeyCommands;

/** Memory that is mapped for the card, with a key on its pages (kernel: {@code mr.c:mlx5_ib_reg_user_mr}). */
final class IbMemoryRegion extends MemoryRegion {
  private static final int VARIANT_BITS = 8;

  private final ConnectxDevice device;
  private DmaBuffer mapping; // control path
  private volatile RegionKeys.Held key;

  private IbMemoryRegion(
      ObjectContext owner, ConnectxDevice device, RegionKeys.Held key, DmaBuffer mapping, Set<Access> access) {
    super(owner, key.value(), remoteKey(key.value(), access));
    this.device = device;
    this.key = key;
    this.mapping = mapping;
  }

  /** Without remote rights there is no key for peers. */
  private static int remoteKey(int key, Set<Access> access) {
    boolean remote =
        access.contains(Access.REMOTE_READ)
            || access.contains(Access.REMOTE_WRITE)
            || access.contains(Access.REMOTE_ATOMIC);
    return remote ? key : 0;
  }

  /**
   * Maps the memory and makes a key.
   *
   * @throws VerbsException EOPNOTSUPP for rights that the card does not have; EINVAL where address and memory lie
   *     differently in their pages; what the card says
   */
  static IbMemoryRegion register(
      ObjectContext owner, ConnectxDevice device, MemorySegment segment, long iova, Set<Access> access) {
    checkRights(access);
    int pd = ((IbProtectionDomain) owner.protectionDomain()).number();
    boolean made = false;
    DmaBuffer mapping = map(device, segment, access);
    RegionKeys.Held key = null;
    try {
      RegionShape shape = RegionShape.of(mapping.address(), iova, segment.byteSize(), access, pd);
      key = Errors.translated(() -> device.keys().create(shape));
      IbMemoryRegion region = new IbMemoryRegion(owner, device, key, mapping, access);
      device.regions().put(key.value() >>> VARIANT_BITS, region);
      made = true;
      return region;
    } finally {
      if (!made) {
        if (key != null) {
          release(device, key);
        }
        mapping.close();
      }
    }
  }

  private static DmaBuffer map(ConnectxDevice device, MemorySegment segment, Set<Access> access) {
    return Errors.translated(() -> device.core().map(segment, access.contains(Access.LOCAL_WRITE)));
  }

  private static void release(ConnectxDevice device, RegionKeys.Held key) {
    if (key.order() >= 0) {
      device.keys().release(key);
    } else {
      device.giveBack("memory key", () -> MemoryKeyCommands.destroy(device.core(), key.value()));
    }
  }

  private static void checkRights(Set<Access> access) {
    for (Access each : access) {
      switch (each) {
        case FLUSH_GLOBAL, FLUSH_PERSISTENT, ON_DEMAND ->
            throw new VerbsException(Errno.EOPNOTSUPP, "memory regions with the right " + each);
        default -> {
          // The card has it, or it is about the address, or optional.
        }
      }
    }
  }

  ConnectxDevice device() {
    return device;
  }

  /** The region of a key, or null. */
  static IbMemoryRegion find(ConnectxDevice device, int key) {
    IbMemoryRegion region = device.regions().get(key >>> VARIANT_BITS);
    return region == null || region.key.value() != key ? null : region;
  }

  /**
   * By the driver's own queue pair where the key has room, in one step, so that no request meets a mixture of old and
   * new; else by another key, which is there before the old one goes ({@code mr.c:mlx5_ib_rereg_user_mr}).
   */
  @Override
  protected void doReregister(ProtectionDomain pd, MemorySegment segment, long iova, Set<Access> access) {
    checkRights(access);
    boolean sameMemory = segment.equals(segment()) && iova == address();
    boolean sameRights = access.contains(Access.LOCAL_WRITE) == access().contains(Access.LOCAL_WRITE);
    DmaBuffer next = sameMemory && sameRights ? mapping : map(device, segment, access);
    boolean done = false;
    try {
      int number = ((IbProtectionDomain) pd).number();
      RegionShape shape = RegionShape.of(next.address(), iova, segment.byteSize(), access, number);
      RegionKeys.Held changed = device.keys().change(key, shape, sameMemory && pd == protectionDomain());
      if (changed != null) {
        key = changed;
      } else {
        replace(Errors.translated(() -> device.keys().create(shape)));
      }
      keys(key.value(), remoteKey(key.value(), access));
      done = true;
    } finally {
      DmaBuffer over = done ? mapping : next;
      if (next != mapping) {
        over.close();
      }
      if (done) {
        mapping = next;
      }
    }
  }

  /** The old key ends when the card lets it go, else the new one. */
  private void replace(RegionKeys.Held next) {
    boolean done = false;
    try {
      endKey();
      done = true;
    } finally {
      if (!done) {
        release(device, next);
      }
    }
    device.regions().remove(key.value() >>> VARIANT_BITS, this);
    device.regions().put(next.value() >>> VARIANT_BITS, this);
    key = next;
  }

  private void endKey() {
    if (key.order() >= 0) {
      device.keys().release(key);
    } else {
      BoundWindows.end(device, (IbProtectionDomain) protectionDomain(), this, key.value());
    }
  }

  @Override
  protected void doDestroy() {
    endKey();
    device.regions().remove(key.value() >>> VARIANT_BITS, this);
    mapping.close();
  }
}
