package org.rdma4j.ib.core.verbs;

import java.util.Set;

/**
 * Rights on memory and rights of remote peers on a queue pair, with the kernel's bits ({@code enum ib_access_flags}).
 */
public enum Access {
  /** The device may write it for local requests; needed by the remote write rights. */
  LOCAL_WRITE(1),
  /** Peers may write. */
  REMOTE_WRITE(2),
  /** Peers may read. */
  REMOTE_READ(4),
  /** Peers may execute atomics. */
  REMOTE_ATOMIC(8),
  /** Memory windows may be bound. */
  MW_BIND(0x10),
  /** Addresses count from zero instead of the virtual address. */
  ZERO_BASED(0x20),
  /** Pages are found when accessed. */
  ON_DEMAND(0x40),
  /** The memory is made of huge pages. */
  HUGETLB(0x80),
  /** Peers may flush for global visibility. */
  FLUSH_GLOBAL(0x100),
  /** Peers may flush for persistence. */
  FLUSH_PERSISTENT(0x200),
  /** Writes may pass each other; a device that does not know it ignores it. */
  RELAXED_ORDERING(0x100000);

  private final int bit;

  Access(int bit) {
    this.bit = bit;
  }

  /** {@return the kernel's bit} */
  public int bit() {
    return bit;
  }

  /** {@return true for rights that a device may ignore (bits 20 to 29)} */
  public boolean isOptional() {
    return (bit & 0x3ff00000) != 0;
  }

  /**
   * Combines rights.
   *
   * @param access the rights
   * @return the kernel's bits
   */
  public static int bits(Set<Access> access) {
    int bits = 0;
    for (Access each : access) {
      bits |= each.bit;
    }
    return bits;
  }
}
