package org.rdma4j.benchmarks.speed;

import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.CountDownLatch;
import org.rdma4j.benchmarks.report.Aim;
import org.rdma4j.benchmarks.report.Report;
import org.rdma4j.benchmarks.report.Row;
import org.rdma4j.benchmarks.report.Series;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/**
 * A device goes while a thousand queue pairs are busy: how long until each posted request has completed, each once, the
 * device is released and none of its objects is left.
 */
final class Unplug {
  static final int QUEUE_PAIRS = 1_000;
  private static final int DEPTH = 8;
  private static final int SIZE = 4096;
  private static final int WARM_UP = 20_000;

  private final RdmaEnd end;
  private final SendWorkRequest[] requests = new SendWorkRequest[QUEUE_PAIRS * DEPTH];
  private final BitSet posted = new BitSet();
  private final CountDownLatch warm = new CountDownLatch(WARM_UP);
  private final WorkCompletion[] batch = WorkCompletion.batch(64);
  private long drainedAt;
  private volatile Throwable failure;

  private Unplug(RdmaEnd end, Settings peer) {
    this.end = end;
    for (int i = 0; i < requests.length; i++) {
      requests[i] =
          new SendWorkRequest()
              .wrId(i)
              .opcode(WrOpcode.RDMA_WRITE)
              .flags(SendFlag.SIGNALED)
              .addSge(end.region.address(), SIZE, end.region.lkey())
              .remoteAddress(peer.get("address"))
              .rkey((int) peer.get("rkey"));
    }
  }

  static void measure(Report report, int rounds) {
    Gid left = Gid.parse("::ffff:127.77.102.1");
    Gid right = Gid.parse("::ffff:127.77.102.2");
    double[] seconds = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      try (RdmaEnd one = new RdmaEnd(left, right, QUEUE_PAIRS, DEPTH, SIZE);
          RdmaEnd other = new RdmaEnd(right, left, QUEUE_PAIRS, DEPTH, SIZE)) {
        one.connect(other.describe());
        other.connect(one.describe());
        seconds[round] = new Unplug(one, other.describe()).time();
      }
    }
    String title = "unplug with 1,000 queue pairs in traffic, to the last flush and zero objects";
    Series series = new Series(title, "s", seconds);
    report.add(series);
    report.add(new Row(title, series, Aim.atMost(1)));
  }

  private double time() {
    Thread traffic = Thread.ofPlatform().name("traffic").start(this::guarded);
    try {
      warm.await();
      long start = System.nanoTime();
      end.device.close();
      long released = System.nanoTime();
      traffic.join();
      if (failure != null) {
        throw new IllegalStateException(failure);
      }
      requireNothingLeft();
      return (Math.max(released, drainedAt) - start) / 1e9;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void guarded() {
    try {
      traffic();
    } catch (RuntimeException | Error e) {
      failure = e;
      while (warm.getCount() > 0) {
        warm.countDown();
      }
    }
  }

  /** Keeps all queue pairs busy, and takes what completes until nothing can come any more. */
  private void traffic() {
    for (int i = 0; i < requests.length; i++) {
      post(i);
    }
    try {
      while (true) {
        int count = end.sendCq.poll(batch);
        for (int i = 0; i < count; i++) {
          completed(batch[i]);
        }
      }
    } catch (VerbsException e) {
      drainedAt = System.nanoTime();
      if (e.errno() != Errno.EIO || !posted.isEmpty()) {
        throw new IllegalStateException(posted.cardinality() + " requests have not completed", e);
      }
    }
  }

  private void completed(WorkCompletion completion) {
    int id = (int) completion.wrId();
    if (!posted.get(id)) {
      throw new IllegalStateException("completed twice: " + completion);
    }
    posted.clear(id);
    if (completion.status() == WcStatus.SUCCESS) {
      warm.countDown();
      post(id);
    } else if (completion.status() != WcStatus.WR_FLUSH_ERR) {
      throw new IllegalStateException("failed: " + completion);
    }
  }

  private void post(int id) {
    try {
      end.queuePairs.get(id / DEPTH).postSend(requests[id]);
      posted.set(id);
    } catch (PostException e) {
      if (warm.getCount() > 0) {
        throw e; // The device is not gone yet.
      }
    }
  }

  private void requireNothingLeft() {
    for (ResourceType type : ResourceType.values()) {
      int left = end.context.device().resources().count(type);
      if (left != 0) {
        throw new IllegalStateException(
            left + " objects left of " + type + " of " + Arrays.toString(ResourceType.values()));
      }
    }
  }
}
