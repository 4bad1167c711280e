package org.rdma4j.rxe;

import java.util.BitSet;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Hands out object numbers in rising order and begins anew at the end, so that a number is not given again soon
 * after it was freed (kernel: {@code rxe_pool.c}). Safe for any thread.
 */
final class NumberPool {
  private final String limitName;
  private final int first;
  private final int last;
  private final BitSet used = new BitSet();
  private int next;
  private int count;

  /**
   * Makes a pool.
   *
   * @param limitName name of the device's limit, for messages
   * @param first lowest number
   * @param last highest number
   */
  NumberPool(String limitName, int first, int last) {
    this.limitName = limitName;
    this.first = first;
    this.last = last;
    this.next = first;
  }

  /** Takes a number; ENOMEM when all are taken. */
  synchronized int take() {
    int size = last - first + 1;
    if (count == size) {
      throw new VerbsException(Errno.ENOMEM, "all " + size + " numbers are in use, which is the limit " + limitName);
    }
    int free = used.nextClearBit(next - first);
    if (free >= size) {
      free = used.nextClearBit(0);
    }
    used.set(free);
    count++;
    next = free + 1 < size ? first + free + 1 : first;
    return first + free;
  }

  /** Gives a number back. */
  synchronized void give(int number) {
    if (used.get(number - first)) {
      used.clear(number - first);
      count--;
    }
  }

  /** Numbers in use. */
  synchronized int count() {
    return count;
  }
}
