package org.rdma4j.ib.core.verbs;

import java.util.EnumSet;
import java.util.Set;

/**
 * What a memory window is bound to ({@code struct ibv_mw_bind_info}). With {@link Access#ZERO_BASED} peers count the
 * addresses of the window from 0 (type 2 only), else as those of the region.
 *
 * @param region the region, registered with {@link Access#MW_BIND}; null only to unbind a window of type 1
 * @param address the window's first byte, in the addresses of the region
 * @param length bytes; 0 unbinds a window of type 1
 * @param access rights of peers: REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, ZERO_BASED
 */
public record MwBindInfo(MemoryRegion region, long address, long length, Set<Access> access) {
  private static final Set<Access> ALLOWED =
      Set.copyOf(
          EnumSet.of(
              Access.REMOTE_WRITE,
              Access.REMOTE_READ,
              Access.REMOTE_ATOMIC,
              Access.FLUSH_GLOBAL,
              Access.FLUSH_PERSISTENT,
              Access.ZERO_BASED));

  /** What takes the rights from a window of type 1. */
  public static final MwBindInfo UNBIND = new MwBindInfo(null, 0, 0, Set.of());

  /**
   * Checks and copies.
   *
   * @throws VerbsException EINVAL for a right that no window has, a negative length, or a length without a region
   */
  public MwBindInfo {
    access = Set.copyOf(access);
    if (!ALLOWED.containsAll(access)) {
      throw new VerbsException(Errno.EINVAL, "rights of a memory window are of " + ALLOWED + ", not " + access);
    }
    if (length < 0 || (region == null && length != 0)) {
      throw new VerbsException(Errno.EINVAL, "a memory window of " + length + " bytes on " + region);
    }
  }

  /**
   * For rights listed one by one.
   *
   * @param region the region
   * @param address the window's first byte, in the addresses of the region
   * @param length bytes
   * @param access rights of peers
   * @throws VerbsException EINVAL for a right that no window has, a negative length, or a length without a region
   */
  public MwBindInfo(MemoryRegion region, long address, long length, Access... access) {
    this(region, address, length, Set.of(access));
  }
}
