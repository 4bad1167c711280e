package org.rdma4j.benchmarks.speed;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.roce.address.Gid;

/** Every case runs, in one process and for a moment, and its payload is right. */
class WorkloadTest {
  private static final long SLICE_NANOS = 50_000_000;

  @ParameterizedTest
  @EnumSource(Case.class)
  void everyCaseRunsTwice(Case measured) {
    String net = "::ffff:127.78." + (measured.ordinal() + 1) + ".";
    try (Workload active = measured.open(Gid.parse(net + 1), Gid.parse(net + 2));
        Workload passive = measured.open(Gid.parse(net + 2), Gid.parse(net + 1))) {
      Settings one = Settings.parse(active.describe().toString());
      Settings other = Settings.parse(passive.describe().toString());
      active.connect(other);
      passive.connect(one);
      for (int seed = 1; seed <= 2; seed++) {
        passive.serve(seed);
        Settings result = active.run(SLICE_NANOS, seed);
        passive.finish();
        assertTrue(result.get(Workload.MESSAGES) > 0, measured + ": " + result);
      }
    }
  }
}
