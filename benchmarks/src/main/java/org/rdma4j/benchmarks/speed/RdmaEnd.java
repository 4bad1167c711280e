package org.rdma4j.benchmarks.speed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.rxe.StandaloneRxe;

/** A device of its own with reliable connections, one memory region and two completion queues. */
final class RdmaEnd implements AutoCloseable {
  private static final int FIRST_PSN = 0x10_0000;
  private static final int INLINE = 64;
  private static final Duration PATIENCE = Duration.ofMillis(10);

  /** Counters of what was lost or had to be sent again. */
  private static final List<String> REPEATS =
      List.of("duplicate_request", "out_of_seq_request", "completer_retry_err", "rcvd_seq_err");

  /** Counter of how often a message found no receive. */
  private static final String NOT_READY = "send_rnr_err";

  final Gid remote;
  final MeasuredDevice device;
  final Context context;
  final CompletionChannel channel;
  final CompletionQueue sendCq;
  final CompletionQueue receiveCq;
  final List<QueuePair> queuePairs = new ArrayList<>();
  final MemorySegment memory;
  final MemoryRegion region;
  private final Arena arena = Arena.ofShared();
  private final int gidIndex;
  private long repeatsBefore;
  private long notReadyBefore;

  /**
   * Makes everything and leaves the queue pairs in INIT.
   *
   * @param count number of queue pairs
   * @param depth requests that each of their queues takes
   * @param bytes size of the memory
   */
  RdmaEnd(Gid local, Gid remote, int count, int depth, long bytes) {
    this(local, remote, count, depth, bytes, 0);
  }

  /**
   * Makes everything, with a link on which some packets get lost.
   *
   * @param loss how many of those that arrive, from 0 to 1
   */
  RdmaEnd(Gid local, Gid remote, int count, int depth, long bytes, double loss) {
    this(
        new StandaloneRxe("rxe0", local, link -> loss == 0 ? link : new LossyLink(link, loss)),
        local, remote, count, depth, bytes);
  }

  /**
   * Makes everything on a device, which becomes its own.
   *
   * @param device of no other end
   */
  RdmaEnd(MeasuredDevice device, Gid local, Gid remote, int count, int depth, long bytes) {
    this.remote = remote;
    this.device = device;
    context = device.open();
    ProtectionDomain pd = context.allocatePd();
    channel = context.createCompletionChannel();
    sendCq = context.createCq(count * depth + 1, channel, 0);
    receiveCq = context.createCq(count * depth + 1, channel, 0);
    memory = arena.allocate(bytes, 4096);
    region = pd.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
    gidIndex = context.device().gidTable(1).find(local).index();
    for (int i = 0; i < count; i++) {
      QpCapabilities sizes = new QpCapabilities(depth, depth, 1, 1, INLINE);
      QueuePair qp =
          pd.createQp(new QpInitAttributes(QpType.RC).sendCq(sendCq).recvCq(receiveCq).capabilities(sizes));
      qp.modify(
          new QpAttributes()
              .state(QpState.INIT)
              .pkeyIndex(0)
              .port(1)
              .access(Access.REMOTE_WRITE, Access.REMOTE_READ));
      queuePairs.add(qp);
    }
  }

  Settings describe() {
    Settings settings = new Settings().with("address", region.address()).with("rkey", region.rkey());
    for (int i = 0; i < queuePairs.size(); i++) {
      settings.with("qp" + i, queuePairs.get(i).number());
    }
    return settings;
  }

  void connect(Settings peer) {
    for (int i = 0; i < queuePairs.size(); i++) {
      QueuePair qp = queuePairs.get(i);
      qp.modify(
          new QpAttributes()
              .state(QpState.RTR)
              .addressVector(new AhAttributes(1, remote, gidIndex))
              .destQpNumber((int) peer.get("qp" + i))
              .pathMtu(PathMtu.MTU_4096)
              .rqPsn(FIRST_PSN)
              .maxDestRdAtomic(16)
              .minRnrTimer(12));
      qp.modify(
          new QpAttributes()
              .state(QpState.RTS)
              .sqPsn(FIRST_PSN)
              .timeout(14)
              .retryCount(7)
              .rnrRetry(7)
              .maxRdAtomic(16));
    }
  }

  /** Polls; without result arms the queue and sleeps until its event, or a short time. */
  int pollOrSleep(CompletionQueue cq, WorkCompletion[] batch) {
    int count = cq.poll(batch);
    if (count == 0) {
      cq.requestNotify(CqNotify.NEXT_COMP);
      count = cq.poll(batch);
      if (count == 0) {
        channel.getEvent(PATIENCE);
        count = cq.poll(batch);
      }
    }
    return requireSuccess(batch, count);
  }

  /** Throws when one of the completions is not a success. */
  static int requireSuccess(WorkCompletion[] batch, int count) {
    for (int i = 0; i < count; i++) {
      if (batch[i].status() != WcStatus.SUCCESS) {
        throw new IllegalStateException("failed: " + batch[i]);
      }
    }
    return count;
  }

  /** A counter that not every device has. */
  private static long value(CounterSet counters, String name) {
    return counters.names().contains(name) ? counters.value(name) : 0;
  }

  /** What had to be sent again since the last call. */
  Settings repeats() {
    CounterSet counters = context.device().counters(1);
    long now = REPEATS.stream().mapToLong(each -> value(counters, each)).sum();
    long notReady = value(counters, NOT_READY);
    Settings result =
        new Settings()
            .with(Workload.REPEATED, now - repeatsBefore)
            .with(Workload.NOT_READY, notReady - notReadyBefore);
    repeatsBefore = now;
    notReadyBefore = notReady;
    return result;
  }

  @Override
  public void close() {
    device.close();
    arena.close();
  }
}
