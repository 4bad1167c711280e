package org.rdma4j.pci.internal;

import java.util.Map;
import java.util.TreeMap;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;

/**
 * Addresses of a window, given out in ranges. The search goes on where the last one ended, so that an address that was
 * given back is not soon given out again, and what still uses it is found out. Safe for any thread.
 */
final class AddressSpace {
  private final String name;
  private final long first;
  private final long gap;
  private final TreeMap<Long, Long> used = new TreeMap<>(); // first address to the one behind the last
  private long next;

  /**
   * Describes a window.
   *
   * @param name what is given out, for errors
   * @param first lowest address
   * @param gap bytes that stay free behind each range
   */
  AddressSpace(String name, long first, long gap) {
    this.name = name;
    this.first = first;
    this.gap = gap;
    this.next = first;
  }

  /**
   * Takes a range.
   *
   * @param length bytes
   * @param alignment a power of two
   * @param last highest address that may be used
   * @throws PciException ENOMEM when there is no such range
   */
  synchronized long take(long length, long alignment, long last) {
    long found = search(next, length, alignment, last);
    if (found < 0) {
      found = search(first, length, alignment, last);
    }
    if (found < 0) {
      throw new PciException(
          PciErrno.ENOMEM, "no %d bytes of %s are left below 0x%x".formatted(length, name, last));
    }
    used.put(found, found + length + gap);
    next = found + length + gap;
    return found;
  }

  private long search(long from, long length, long alignment, long last) {
    Map.Entry<Long, Long> before = used.floorEntry(from);
    long candidate = align(before == null ? from : Math.max(from, before.getValue()), alignment);
    while (candidate >= first && Long.compareUnsigned(candidate + length - 1, last) <= 0) {
      Map.Entry<Long, Long> blocker = used.lowerEntry(candidate + length + gap);
      if (blocker == null || blocker.getValue() <= candidate) {
        return candidate;
      }
      candidate = align(blocker.getValue(), alignment);
    }
    return -1;
  }

  private static long align(long address, long alignment) {
    return (address + alignment - 1) & -alignment;
  }

  /** Gives a range back. */
  synchronized void release(long address) {
    used.remove(address);
  }
}
