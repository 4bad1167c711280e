package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
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
    checkUsable(segment);
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
    checkFlush(access, Access.FLUSH_GLOBAL, DeviceCapability.FLUSH_GLOBAL, attributes);
    checkFlush(access, Access.FLUSH_PERSISTENT, DeviceCapability.FLUSH_PERSISTENT, attributes);
    boolean remoteWrites = access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC);
    if (remoteWrites && !access.contains(Access.LOCAL_WRITE)) {
      throw new VerbsException(Errno.EINVAL, "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE; asked for " + access);
    }
    if (access.contains(Access.LOCAL_WRITE) && segment.isReadOnly()) {
      throw new VerbsException(Errno.EACCES, "a read-only segment cannot be registered with LOCAL_WRITE");
    }
  }

  /** Rights to flush are given only where the device can ({@code ib_check_mr_access}). */
  private static void checkFlush(
      Set<Access> access, Access right, DeviceCapability needed, DeviceAttributes attributes) {
    if (access.contains(right) && !attributes.has(needed)) {
      throw new VerbsException(Errno.EOPNOTSUPP, right + " needs a device with the capability " + needed);
    }
  }

  private static void checkUsable(MemorySegment segment) {
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
  }

  /** What may be mapped for fast registration. */
  static void checkPieces(List<MemorySegment> pieces, long offset, int pageSize, DeviceAttributes attributes) {
    if (Integer.bitCount(pageSize) != 1 || (attributes.pageSizeCapabilities() & pageSize) == 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "a page of " + pageSize + " bytes is none of the sizes in page_size_cap 0x"
              + Long.toHexString(attributes.pageSizeCapabilities()));
    }
    for (MemorySegment each : pieces) {
      checkUsable(each);
      if (each.byteSize() == 0) {
        throw new VerbsException(Errno.EINVAL, "a piece of 0 bytes cannot be mapped");
      }
    }
    if (pieces.isEmpty() || offset < 0 || offset >= pieces.getFirst().byteSize()) {
      throw new VerbsException(
          Errno.EINVAL, "offset " + offset + " is not inside the first of " + pieces.size() + " pieces");
    }
  }

  /** Fast registration, where the device has it, of a number of pages that it takes. */
  static void checkPages(int pages, DeviceAttributes attributes, String device) {
    if (!attributes.has(DeviceCapability.MEM_MGT_EXTENSIONS)) {
      throw new VerbsException(Errno.EOPNOTSUPP, device + " has no fast registration");
    }
    long max = attributes.limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN);
    if (pages < 1 || pages > max) {
      throw new VerbsException(
          Errno.EINVAL,
          pages + " pages are not between 1 and "
              + DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN.attributeName() + " of " + device + ", which is " + max);
    }
  }
}
