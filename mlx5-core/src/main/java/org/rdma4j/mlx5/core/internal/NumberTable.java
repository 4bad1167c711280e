package org.rdma4j.mlx5.core.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Objects by 24-bit numbers. Looking up neither blocks nor allocates.
 *
 * @param <T> what is in it
 */
final class NumberTable<T> {
  private static final int PAGE = 4096;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);

  private final Object[][] pages = new Object[PAGE][];

  @SuppressWarnings("unchecked")
  T get(int number) {
    Object[] page = (Object[]) ELEMENT.getAcquire((Object[]) pages, number / PAGE & (PAGE - 1));
    return page == null ? null : (T) ELEMENT.getAcquire(page, number % PAGE);
  }

  synchronized void put(int number, T value) {
    Object[] page = pages[number / PAGE];
    if (page == null) {
      page = new Object[PAGE];
      ELEMENT.setRelease((Object[]) pages, number / PAGE, page);
    }
    ELEMENT.setRelease(page, number % PAGE, value);
  }

  synchronized void remove(int number) {
    put(number, null);
  }
}
