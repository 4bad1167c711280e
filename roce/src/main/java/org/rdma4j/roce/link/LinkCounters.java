package org.rdma4j.roce.link;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The values of all {@link LinkCounter}s of one link.
 *
 * <p>Written by the thread that runs the link only, read by any: each value is one that the counter really had, values
 * of different counters need not belong to the same moment. Never blocks, never allocates.
 */
public final class LinkCounters {
  private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] values = new long[LinkCounter.values().length];

  /** Makes a set of counters, all 0. */
  public LinkCounters() {}

  /**
   * Reads a counter, from any thread.
   *
   * @param counter which
   * @return its value, at least 0
   */
  public long get(LinkCounter counter) {
    return (long) VALUE.getOpaque(values, counter.ordinal());
  }

  /**
   * Adds to a counter; only from the thread that runs the link.
   *
   * @param counter which
   * @param amount how much, at least 0
   */
  public void add(LinkCounter counter, long amount) {
    int index = counter.ordinal();
    VALUE.setOpaque(values, index, values[index] + amount);
  }

  /**
   * Adds one to a counter; only from the thread that runs the link.
   *
   * @param counter which
   */
  public void increment(LinkCounter counter) {
    add(counter, 1);
  }

  /** Returns all counters that are not 0, as {@code label=value} in the order of their ids. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (LinkCounter counter : LinkCounter.values()) {
      long value = get(counter);
      if (value != 0) {
        text.append(text.isEmpty() ? "" : ", ").append(counter.label()).append('=').append(value);
      }
    }
    return text.toString();
  }
}
