package org.rdma4j.pci;

/**
 * A memory region that a card offers.
 *
 * @param size bytes, a power of two of at least 4096
 * @param wide whether it may lie anywhere in 64 bits; it then takes two base address registers
 * @param prefetchable whether reads have no side effects
 */
public record BarLayout(long size, boolean wide, boolean prefetchable) {
  private static final int SMALLEST = 4096;

  /** Checks the size; EINVAL. */
  public BarLayout {
    if (Long.bitCount(size) != 1 || size < SMALLEST || (!wide && size > 1L << 31)) {
      throw new PciException(
          PciErrno.EINVAL,
          "BAR of " + size + " bytes: allowed are powers of two from 4096, to 2 GiB when it is not wide");
    }
  }
}
