package org.rdma4j.ib.core.verbs;

import java.util.HashSet;
import java.util.Set;

/** Numbers from 0 upwards, each given again only after the range was used up ({@code xa_alloc_cyclic}). */
final class CyclicNumbers {
  private final Set<Integer> taken = new HashSet<>();
  private int next;

  int take() {
    while (!taken.add(next)) {
      advance();
    }
    int number = next;
    advance();
    return number;
  }

  void give(int number) {
    taken.remove(number);
  }

  private void advance() {
    next = (next + 1) & Integer.MAX_VALUE;
  }
}
