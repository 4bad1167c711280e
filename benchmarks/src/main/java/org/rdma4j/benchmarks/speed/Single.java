package org.rdma4j.benchmarks.speed;

import org.rdma4j.benchmarks.report.Report;

/** What is measured within one process. */
enum Single {
  /** Bytes allocated per operation, by JMH. */
  ALLOCATION {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Allocations.measure(report, rounds, seconds);
    }
  },
  /** Time to register memory. */
  REGISTRATION {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Registration.measure(report, rounds);
    }
  },
  /** Time to take a device away under traffic. */
  UNPLUG {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Unplug.measure(report, rounds);
    }
  };

  /** Measures and adds rows. */
  abstract void measure(Report report, int rounds, double seconds);
}
