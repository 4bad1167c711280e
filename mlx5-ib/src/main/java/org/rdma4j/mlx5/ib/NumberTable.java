package org.rdma4j.mlx5.ib;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Objects by their number of 24 bits (kernel: the radix trees of {@code qpc.c} and {@code srq_cmd.c}). Looking one up
 * takes no lock and allocates nothing.
 *
 * @param <T> the objects
 */
final class NumberTable<T> {
  private static final int SHIFT = 12;
  private static final int MASK = (1 << SHIFT) - 1;

  private final AtomicReferenceArray<AtomicReferenceArray<T>> pages = new AtomicReferenceArray<>(1 << SHIFT);

  /** The object of a number, or null. */
  T get(int number) {
    AtomicReferenceArray<T> page = pages.get(number >>> SHIFT & MASK);
    return page == null ? null : page.get(number & MASK);
  }

  synchronized void put(int number, T object) {
    int index = number >>> SHIFT & MASK;
    AtomicReferenceArray<T> page = pages.get(index);
    if (page == null) {
      page = new AtomicReferenceArray<>(1 << SHIFT);
      pages.set(index, page);
    }
    page.set(number & MASK, object);
  }

  /** Takes an object out, unless its number is another's by now. */
  void remove(int number, T object) {
    AtomicReferenceArray<T> page = pages.get(number >>> SHIFT & MASK);
    if (page != null) {
      page.compareAndSet(number & MASK, object, null);
    }
  }
}
