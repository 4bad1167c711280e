package org.rdma4j.roce.simulation;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** Sums of what happened in simulations, by group and name; not thread-safe. */
public final class Tally {
  /** Group: work requests by service and opcode. */
  public static final String OPERATIONS = "operations";
  /** Group: ends of work requests by queue, service and status. */
  public static final String COMPLETIONS = "completions";
  /** Group: what was done to packets, links and queue pairs. */
  public static final String FAULTS = "faults";
  /** Group: asynchronous events. */
  public static final String EVENTS = "events";
  /** Group: the engines' counters, and {@link #PACKETS}. */
  public static final String COUNTERS = "counters";
  /** Name in {@link #COUNTERS}: packets given to the network. */
  public static final String PACKETS = "packets";

  private final Map<String, Map<String, Long>> groups = new TreeMap<>();

  /** Makes an empty one. */
  public Tally() {}

  void add(String group, String name, long count) {
    groups.computeIfAbsent(group, g -> new TreeMap<>()).merge(name, count, Long::sum);
  }

  void add(Tally other) {
    other.groups.forEach((group, sums) -> sums.forEach((name, count) -> add(group, name, count)));
  }

  /**
   * {@return the sums of a group by name, in the order of names}
   *
   * @param group one of the constants
   */
  public Map<String, Long> group(String group) {
    return Collections.unmodifiableMap(groups.getOrDefault(group, Map.of()));
  }

  /**
   * {@return the sum of all of a group}
   *
   * @param group one of the constants
   */
  public long total(String group) {
    return group(group).values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * {@return one sum, 0 when there is none}
   *
   * @param group one of the constants
   * @param name within the group
   */
  public long count(String group, String name) {
    return group(group).getOrDefault(name, 0L);
  }
}
