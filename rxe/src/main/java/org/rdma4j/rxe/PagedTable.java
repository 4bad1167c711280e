package org.rdma4j.rxe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A sparse table by object number that grows by pages: written under its lock, read by any thread without one.
 *
 * @param <T> what is kept
 */
final class PagedTable<T> {
  private static final int PAGE_SHIFT = 10;
  private static final int PAGE_MASK = (1 << PAGE_SHIFT) - 1;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final VarHandle PAGE = MethodHandles.arrayElementVarHandle(Object[][].class);

  private final Object[][] pages;

  /**
   * Makes an empty table.
   *
   * @param size numbers it takes, from 0
   */
  PagedTable(int size) {
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

  /** Keeps something, or with null nothing, under a number below the size. */
  synchronized void put(int number, T value) {
    int page = number >>> PAGE_SHIFT;
    Object[] found = pages[page];
    if (found == null) {
      found = new Object[PAGE_MASK + 1];
      PAGE.setRelease(pages, page, found);
    }
    ELEMENT.setRelease(found, number & PAGE_MASK, value);
  }
}
