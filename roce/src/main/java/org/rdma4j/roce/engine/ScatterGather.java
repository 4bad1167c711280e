package org.rdma4j.roce.engine;

/**
 * A scatter/gather list: pieces of registered memory that make one message. Reused from one work request to the next;
 * not thread-safe.
 */
public final class ScatterGather {
  private final long[] addresses;
  private final int[] lengths;
  private final int[] keys;
  private int count;
  private long total;

  /**
   * Makes an empty list.
   *
   * @param capacity largest number of elements, at least 0
   */
  public ScatterGather(int capacity) {
    addresses = new long[capacity];
    lengths = new int[capacity];
    keys = new int[capacity];
  }

  /** Empties the list. */
  public void clear() {
    count = 0;
    total = 0;
  }

  /**
   * Adds an element.
   *
   * @param address address in the key's address space
   * @param length bytes, taken as unsigned 32 bits
   * @param key local key
   * @throws IndexOutOfBoundsException when the list is full
   */
  public void add(long address, int length, int key) {
    addresses[count] = address;
    lengths[count] = length;
    keys[count] = key;
    count++;
    total += Integer.toUnsignedLong(length);
  }

  /** {@return number of elements} */
  public int count() {
    return count;
  }

  /** {@return largest number of elements} */
  public int capacity() {
    return addresses.length;
  }

  /** {@return bytes in all elements together} */
  public long total() {
    return total;
  }

  long address(int i) {
    return addresses[i];
  }

  long length(int i) {
    return Integer.toUnsignedLong(lengths[i]);
  }

  int key(int i) {
    return keys[i];
  }

  void copyFrom(ScatterGather other) {
    clear();
    for (int i = 0; i < other.count; i++) {
      add(other.addresses[i], other.lengths[i], other.keys[i]);
    }
  }
}
