package org.rdma4j.roce.engine;

import java.util.function.Consumer;

/** Queue pairs by number: open addressing, no allocation on look-up. Engine thread only. */
final class QpTable {
  private QpContext[] slots = new QpContext[64];
  private int size;

  QpContext find(int number) {
    int mask = slots.length - 1;
    for (int i = hash(number) & mask; slots[i] != null; i = i + 1 & mask) {
      if (slots[i].number() == number) {
        return slots[i];
      }
    }
    return null;
  }

  void add(QpContext qp) {
    if (find(qp.number()) != null) {
      throw new IllegalArgumentException("queue pair number " + qp.number() + " is in use");
    }
    if (++size * 2 > slots.length) {
      QpContext[] old = slots;
      slots = new QpContext[old.length * 2];
      for (QpContext each : old) {
        if (each != null) {
          place(each);
        }
      }
    }
    place(qp);
  }

  void remove(QpContext qp) {
    int mask = slots.length - 1;
    int i = hash(qp.number()) & mask;
    while (slots[i] != qp) {
      if (slots[i] == null) {
        return;
      }
      i = i + 1 & mask;
    }
    slots[i] = null;
    size--;
    // What stood behind it may have been pushed there by it.
    for (int j = i + 1 & mask; slots[j] != null; j = j + 1 & mask) {
      QpContext moved = slots[j];
      slots[j] = null;
      place(moved);
    }
  }

  void forEach(Consumer<QpContext> action) {
    for (QpContext each : slots) {
      if (each != null) {
        action.accept(each);
      }
    }
  }

  int size() {
    return size;
  }

  private void place(QpContext qp) {
    int mask = slots.length - 1;
    int i = hash(qp.number()) & mask;
    while (slots[i] != null) {
      i = i + 1 & mask;
    }
    slots[i] = qp;
  }

  private static int hash(int number) {
    int h = number * 0x9e37_79b9;
    return h ^ h >>> 16;
  }
}
