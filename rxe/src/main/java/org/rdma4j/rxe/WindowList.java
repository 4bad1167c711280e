package org.rdma4j.rxe;

import java.util.StringJoiner;

/**
 * Bound windows in no particular order, chained through themselves: a window is in the list of its region, and with
 * type 2 in that of its queue pair. Engine thread.
 */
final class WindowList {
  /** The list of a region. */
  static final int OF_REGION = 0;
  /** The list of a queue pair. */
  static final int OF_QUEUE_PAIR = 1;

  private final int chain;
  private WindowMemory first;

  WindowList(int chain) {
    this.chain = chain;
  }

  boolean isEmpty() {
    return first == null;
  }

  void add(WindowMemory window) {
    window.previous[chain] = null;
    window.next[chain] = first;
    if (first != null) {
      first.previous[chain] = window;
    }
    first = window;
  }

  void remove(WindowMemory window) {
    WindowMemory before = window.previous[chain];
    WindowMemory after = window.next[chain];
    if (before == null) {
      first = after;
    } else {
      before.next[chain] = after;
    }
    if (after != null) {
      after.previous[chain] = before;
    }
    window.previous[chain] = null;
    window.next[chain] = null;
  }

  /** Takes the rights from all of them. */
  void unbindAll() {
    while (first != null) {
      first.unbind();
    }
  }

  /** Their names, for messages. */
  @Override
  public String toString() {
    StringJoiner names = new StringJoiner(", ");
    for (WindowMemory each = first; each != null; each = each.next[chain]) {
      names.add(each.label());
    }
    return names.toString();
  }
}
