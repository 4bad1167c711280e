package org.rdma4j.benchmarks.speed;

import java.util.Arrays;

/** The times of one slice of round trips. */
final class RoundTrips {
  private static final int CAPACITY = 1 << 20;

  private final long[] nanos = new long[CAPACITY];
  private int count;

  void clear() {
    count = 0;
  }

  /** Notes a time; false when no more can be noted. */
  boolean add(long time) {
    nanos[count++] = time;
    return count < CAPACITY;
  }

  Settings result() {
    Arrays.sort(nanos, 0, count);
    return new Settings()
        .with(Workload.MESSAGES, count)
        .with(Workload.P50, quantile(0.5))
        .with(Workload.P99, quantile(0.99))
        .with(Workload.P999, quantile(0.999));
  }

  private long quantile(double share) {
    return nanos[Math.min(count - 1, (int) (count * share))];
  }
}
