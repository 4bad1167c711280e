package org.rdma4j.ib.core.verbs;

import java.util.List;

/** Named counters of a port in the provider's order ({@code struct rdma_hw_stats}); an immutable snapshot. */
public final class CounterSet {
  /** No counters. */
  public static final CounterSet EMPTY = new CounterSet(List.of(), new long[0]);

  private final List<String> names;
  private final long[] values;

  /**
   * Makes a snapshot.
   *
   * @param names the kernel's names where it has the same counter
   * @param values the values in the same order
   */
  public CounterSet(List<String> names, long... values) {
    this.names = List.copyOf(names);
    this.values = values.clone();
    if (names.size() != values.length) {
      throw new IllegalArgumentException(names.size() + " names for " + values.length + " counters");
    }
  }

  /** {@return the names in order} */
  public List<String> names() {
    return names;
  }

  /**
   * Reads a counter.
   *
   * @param index its place in {@link #names()}
   * @return its value
   */
  public long value(int index) {
    return values[index];
  }

  /**
   * Reads a counter.
   *
   * @param name its name
   * @return its value
   * @throws VerbsException ENOENT where there is no counter of that name
   */
  public long value(String name) {
    int index = names.indexOf(name);
    if (index < 0) {
      throw new VerbsException(Errno.ENOENT, "no counter " + name + " among " + names);
    }
    return values[index];
  }
}
