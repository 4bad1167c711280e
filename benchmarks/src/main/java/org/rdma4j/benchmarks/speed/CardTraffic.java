package org.rdma4j.benchmarks.speed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.mlx5.ib.StandaloneConnectx;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/**
 * RC WRITEs from one modelled card to another over a network in memory: 64 bytes one at a time, from the post to the
 * completion, and 64 KiB as fast as they go; in turns with plain copies of as many bytes.
 */
final class CardTraffic {
  private static final Gid LEFT = Gid.parse("::ffff:127.77.103.1");
  private static final Gid RIGHT = Gid.parse("::ffff:127.77.103.2");
  private static final int SMALL = 64;
  private static final int LARGE = 65_536;
  private static final int SLOTS = 4;
  private static final int DEPTH = 32;
  private static final int CHAIN = 8;
  private static final int COPIES = 1024;

  /** The compiler needs that many slices of both. */
  private static final int WARM_UPS = 4;

  private final RoundTrips times = new RoundTrips();
  private final WorkCompletion[] batch = WorkCompletion.batch(1);
  private final RdmaEnd end;
  private final SendWorkRequest write;
  private final RdmaStream sender;
  private final RdmaStream receiver;
  private final MemorySegment source = Arena.ofAuto().allocate((long) SLOTS * LARGE, SMALL);
  private final MemorySegment target = Arena.ofAuto().allocate((long) SLOTS * LARGE, SMALL);

  private CardTraffic(RdmaEnd end, RdmaEnd peer) {
    this.end = end;
    sender = new RdmaStream(end, LARGE, DEPTH, CHAIN);
    receiver = new RdmaStream(peer, LARGE, DEPTH, CHAIN);
    Settings ofPeer = receiver.describe();
    Settings own = sender.describe();
    sender.connect(ofPeer);
    receiver.connect(own);
    write =
        new SendWorkRequest()
            .opcode(WrOpcode.RDMA_WRITE)
            .flags(SendFlag.SIGNALED)
            .addSge(end.region.address(), SMALL, end.region.lkey())
            .remoteAddress(ofPeer.get("address"))
            .rkey((int) ofPeer.get("rkey"));
  }

  static void measure(Report report, int rounds, double seconds) {
    long nanos = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    Fabric fabric = new Fabric(1, Clock.SYSTEM);
    long memory = (long) SLOTS * LARGE;
    RdmaEnd one = new RdmaEnd(new StandaloneConnectx("left", LEFT, fabric), LEFT, RIGHT, 1, DEPTH, memory);
    RdmaEnd other = new RdmaEnd(new StandaloneConnectx("right", RIGHT, fabric), RIGHT, LEFT, 1, DEPTH, memory);
    try (one;
        other) {
      new CardTraffic(one, other).measure(report, rounds, nanos);
    }
  }

  private void measure(Report report, int rounds, long nanos) {
    for (int i = 0; i < WARM_UPS; i++) {
      latency(nanos);
      bandwidth(nanos, -1 - i);
      copies(SMALL, nanos);
      copies(LARGE, nanos);
    }
    double[] p50 = new double[rounds];
    double[] p99 = new double[rounds];
    double[] copyNanos = new double[rounds];
    double[] copyMicros = new double[rounds];
    double[] gigabytes = new double[rounds];
    double[] largeCopy = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      Settings small = latency(nanos);
      p50[i] = small.get(Workload.P50) / 1e3;
      p99[i] = small.get(Workload.P99) / 1e3;
      copyNanos[i] = copies(SMALL, nanos);
      copyMicros[i] = copyNanos[i] / 1e3;
      gigabytes[i] = bandwidth(nanos, i + 1);
      largeCopy[i] = LARGE / copies(LARGE, nanos);
    }
    Series latency = new Series("card to card, write 64 B, post to completion, p50", "µs", p50);
    Series copy = new Series("plain copy of 64 B", "µs", copyMicros);
    Series stream = new Series("card to card, write 64 KiB", "GB/s", gigabytes);
    Series copied = new Series("plain copy of 64 KiB", "GB/s", largeCopy);
    row(report, latency);
    row(report, new Series("card to card, write 64 B, post to completion, p99", "µs", p99));
    row(report, new Series(copy.name(), "ns", copyNanos));
    row(report, latency.over("card to card, write 64 B, p50, against a plain copy", copy));
    row(report, stream);
    row(report, copied);
    row(report, stream.over("card to card, write 64 KiB, against a plain copy", copied));
  }

  private static void row(Report report, Series series) {
    report.add(series);
    report.add(new Row(series.name(), series, Aim.NONE));
  }

  /** One WRITE at a time; the last one's bytes are compared. */
  private Settings latency(long nanos) {
    times.clear();
    long start = System.nanoTime();
    long stop = start + nanos;
    boolean more = true;
    int polls = 0;
    while (more && start < stop) {
      end.queuePairs.getFirst().postSend(write);
      while (RdmaEnd.requireSuccess(batch, end.sendCq.poll(batch)) == 0) {
        Service.pause(++polls);
      }
      long now = System.nanoTime();
      more = times.add(now - start);
      start = now;
    }
    return times.result();
  }

  /** GB/s of a slice; every byte that arrives is compared. */
  private double bandwidth(long nanos, int seed) {
    receiver.serve(seed);
    Settings sent = sender.run(nanos, seed);
    receiver.finish();
    return (double) sent.get(Workload.BYTES) / sent.get(Workload.NANOS);
  }

  /** Nanoseconds of one copy. */
  private double copies(int bytes, long nanos) {
    long start = System.nanoTime();
    long copies = 0;
    long now = start;
    while (now - start < nanos) {
      for (int i = 0; i < COPIES; i++) {
        long at = (long) (i % SLOTS) * bytes;
        MemorySegment.copy(source, at, target, at, bytes);
      }
      copies += COPIES;
      now = System.nanoTime();
    }
    return (double) (now - start) / copies;
  }
}
