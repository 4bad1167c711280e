package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What may be registered ({@code ib_check_mr_access}, {@code ib_umem_get}). */
final class MemoryRules {
  /** Never started: memory it may touch is confined to no thread. */
  private static final Thread ANOTHER = new Thread(() -> {});

  private MemoryRules() {}

  /** Windows are made only where the device says it has them ({@code MEM_WINDOW}, {@code MEM_WINDOW_TYPE_2A/B}). */
  static void check(MwType type, DeviceAttributes attributes, String device) {
    Set<DeviceCapability> capabilities = attributes.capabilities();
    boolean there =
        type == MwType.TYPE_1
            ? capabilities.contains(DeviceCapability.MEM_WINDOW)
            : capabilities.contains(DeviceCapability.MEM_WINDOW_TYPE_2A)
                || capabilities.contains(DeviceCapability.MEM_WINDOW_TYPE_2B);
    if (!there) {
      throw new VerbsException(Errno.EOPNOTSUPP, device + " has no memory windows of " + type);
    }
  }

  static void check(MemorySegment segment, long iova, Set<Access> access, DeviceAttributes attributes) {
    if (!segment.isNative()) {
      throw new VerbsException(
          Errno.EINVAL, "a heap segment cannot be registered: the collector moves it; allocate it from an Arena");
    }
    if (!segment.scope().isAlive()) {
      throw new VerbsException(Errno.EINVAL, "a segment whose arena is closed cannot be registered");
    }
    if (!segment.isAccessibleBy(ANOTHER)) {
      throw new VerbsException(
          Errno.EINVAL,
          "a segment of a confined arena cannot be registered: the device's thread may not touch it;"
              + " use Arena.ofShared, ofAuto or global");
    }
    if (segment.byteSize() == 0) {
      throw new VerbsException(Errno.EINVAL, "a region of 0 bytes cannot be registered");
    }
    long max = attributes.maxMrSize();
    if (max != 0 && Long.compareUnsigned(segment.byteSize(), max) > 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "a region of " + segment.byteSize() + " bytes exceeds max_mr_size " + Long.toUnsignedString(max));
    }
    if (Long.compareUnsigned(iova + (segment.byteSize() - 1), iova) < 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "a region of " + segment.byteSize() + " bytes at 0x" + Long.toHexString(iova) + " exceeds the address space");
    }
    boolean remoteWrites = access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC);
    if (remoteWrites && !access.contains(Access.LOCAL_WRITE)) {
      throw new VerbsException(Errno.EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE; asked for " + access);
    }
    if (access.contains(Access.LOCAL_WRITE) && segment.isReadOnly()) {
      throw new VerbsException(Errno.EACCES, "a read-only segment cannot be registered with LOCAL_WRITE");
    }
  }
}
