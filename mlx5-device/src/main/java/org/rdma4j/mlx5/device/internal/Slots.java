package org.rdma4j.mlx5.device.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Objects by number, in pages that come as they are needed: written on the engine thread, read by any thread.
 *
 * @param <T> what is kept
 */
final class Slots<T> {
  private static final int PAGE_SHIFT = 10;
  private static final int PAGE_MASK = (1 << PAGE_SHIFT) - 1;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final VarHandle PAGE = MethodHandles.arrayElementVarHandle(Object[][].class);

  private final Object[][] pages;

  Slots(int size) {
    pages = new Object[(size + PAGE_MASK) >> PAGE_SHIFT][];
  }

  /** What is kept under a number, or null; any number. */
  @SuppressWarnings("unchecked") // Only put() stores.
  T get(int number) {
    int page = number >>> PAGE_SHIFT;
    if (page >= pages.length) {
      return null;
    }
    Object[] found = (Object[]) PAGE.getAcquire(pages, page);
    return found == null ? null : (T) ELEMENT.getAcquire(found, number & PAGE_MASK);
  }

  /** Keeps something, or with null nothing. */
  void put(int number, T value) {
    int page = number >>> PAGE_SHIFT;
    Object[] found = pages[page];
    if (found == null) {
      found = new Object[PAGE_MASK + 1];
      PAGE.setRelease(pages, page, found);
    }
    ELEMENT.setRelease(found, number & PAGE_MASK, value);
  }

  /** Calls for each object there is. */
  @SuppressWarnings("unchecked")
  void forEach(java.util.function.Consumer<T> action) {
    for (Object[] page : pages) {
      for (int i = 0; page != null && i <= PAGE_MASK; i++) {
        if (page[i] != null) {
          action.accept((T) page[i]);
        }
      }
    }
  }
}
