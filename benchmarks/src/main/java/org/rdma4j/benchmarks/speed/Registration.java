package org.rdma4j.benchmarks.speed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.roce.address.Gid;

/** How long it takes to register memory and to give the registration back, by the size of the memory. */
final class Registration {
  private static final int TIMES = 2_000;
  private static final long KIB = 1024;

  /** A size as people name it. */
  private record Size(String name, long bytes) {}

  private static final Size[] SIZES = {
    new Size("4 KiB", 4 * KIB), new Size("1 MiB", KIB * KIB), new Size("1 GiB", KIB * KIB * KIB)
  };

  private Registration() {}

  static void measure(Report report, int rounds) {
    Gid local = Gid.parse("::ffff:127.77.101.1");
    try (RdmaEnd end = new RdmaEnd(local, local, 1, 1, 4 * KIB);
        Arena arena = Arena.ofShared()) {
      ProtectionDomain pd = end.context.allocatePd();
      for (Size size : SIZES) {
        MemorySegment memory = arena.allocate(size.bytes, 4 * KIB);
        double[] micros = new double[rounds];
        time(pd, memory); // to get warm
        for (int round = 0; round < rounds; round++) {
          micros[round] = time(pd, memory);
        }
        String title = "registering " + size.name + " and giving it back";
        Series series = new Series(title, "µs", micros);
        report.add(series);
        report.add(new Row(title, series, Aim.NONE));
      }
    }
  }

  /** Microseconds of one registration. */
  private static double time(ProtectionDomain pd, MemorySegment memory) {
    long start = System.nanoTime();
    for (int i = 0; i < TIMES; i++) {
      pd.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ).close();
    }
    return (System.nanoTime() - start) / 1e3 / TIMES;
  }
}
