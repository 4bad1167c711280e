package org.rdma4j.benchmarks.speed;

import org.rdma4j.benchmarks.report.Report;

/** What is measured within one process. */
enum Single {
  /** Bytes allocated per operation, by JMH. */
  ALLOCATION {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Allocations.measure(report, OperationBenchmark.class, rounds, seconds);
    }
  },
  /** The same between two cards on the fabric. */
  CARD_ALLOCATION {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Allocations.measure(report, CardOperationBenchmark.class, rounds, seconds);
    }
  },
  /** WRITEs between two cards on the fabric, next to plain copies of memory. */
  CARD {
    @Override
    void measure(Report report, int rounds, double seconds) {
      CardTraffic.measure(report, rounds, seconds);
    }
  },
  /** Connections by address, how many a second, and traffic of some of many. */
  CONNECTIONS {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Connections.measure(report, rounds, seconds);
    }
  },
  /** Time until a card that is plugged in is usable. */
  PLUG {
    @Override
    void measure(Report report, int rounds, double seconds) {
      Plug.measure(report, rounds);
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
