package org.rdma4j.ib.core.verbs;

import java.util.Arrays;

/**
 * Scatter/gather entries of a work request in primitive arrays that grow once and are then reused
 * ({@code struct ib_sge[]}); not safe for several threads.
 */
final class SgeList {
  private long[] addresses = new long[1];
  private int[] lengths = new int[1];
  private int[] lkeys = new int[1];
  private int count;

  void add(long address, int length, int lkey) {
    if (count == addresses.length) {
      addresses = Arrays.copyOf(addresses, count * 2);
      lengths = Arrays.copyOf(lengths, count * 2);
      lkeys = Arrays.copyOf(lkeys, count * 2);
    }
    addresses[count] = address;
    lengths[count] = length;
    lkeys[count] = lkey;
    count++;
  }

  void clear() {
    count = 0;
  }

  int count() {
    return count;
  }

  long address(int index) {
    return addresses[index];
  }

  int length(int index) {
    return lengths[index];
  }

  int lkey(int index) {
    return lkeys[index];
  }
}
