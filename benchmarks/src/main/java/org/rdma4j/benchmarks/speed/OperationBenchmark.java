package org.rdma4j.benchmarks.speed;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/**
 * Single operations between two devices of one process over UDP on the loopback interface. The times say little (three
 * threads share the process), what counts is the {@code gc} profiler: bytes allocated by all threads, the engines'
 * included, for each operation, which is 0 but for what JMH itself allocates between its iterations.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = {"-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
public class OperationBenchmark {
  /** Operations of one invocation, so that what surrounds an invocation does not count. */
  static final int OPERATIONS = 256;

  private static final int SMALL = 64;
  static final int LARGE = 65_536;
  static final int DEPTH = 16;

  private final WorkCompletion[] batch = WorkCompletion.batch(1);
  private RdmaEnd one;
  private RdmaEnd other;
  private QueuePair qp;
  private SendWorkRequest send;
  private SendWorkRequest inline;
  private SendWorkRequest write;
  private SendWorkRequest read;
  private SendWorkRequest smallWrite;
  private ReceiveWorkRequest receive;
  private WorkRequestBuilder builder;
  private CompletionCursor cursor;
  private long remoteAddress;
  private int rkey;

  /** For JMH. */
  public OperationBenchmark() {}

  /** Makes and connects the two ends. */
  @Setup
  public void connect() {
    Gid left = Gid.parse("::ffff:127.77.100.1");
    Gid right = Gid.parse("::ffff:127.77.100.2");
    one = end(left, right);
    other = end(right, left);
    one.connect(other.describe());
    other.connect(one.describe());
    qp = one.queuePairs.getFirst();
    long address = one.region.address();
    remoteAddress = other.region.address();
    rkey = other.region.rkey();
    int lkey = one.region.lkey();
    MemorySegment data = one.memory.asSlice(0, SMALL);
    send = new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(address, SMALL, lkey);
    inline = new SendWorkRequest().flags(SendFlag.SIGNALED | SendFlag.INLINE).inlineData(data);
    write = remote(WrOpcode.RDMA_WRITE).addSge(address, LARGE, lkey);
    read = remote(WrOpcode.RDMA_READ).addSge(address, LARGE, lkey);
    smallWrite = remote(WrOpcode.RDMA_WRITE).addSge(address, SMALL, lkey);
    receive = new ReceiveWorkRequest().addSge(remoteAddress, SMALL, other.region.lkey());
    builder = qp.workRequests();
    cursor = one.sendCq.cursor();
  }

  /** One end, on a device of its own. */
  RdmaEnd end(Gid local, Gid remote) {
    return new RdmaEnd(local, remote, 1, DEPTH, LARGE);
  }

  private SendWorkRequest remote(WrOpcode opcode) {
    return new SendWorkRequest().opcode(opcode).flags(SendFlag.SIGNALED).remoteAddress(remoteAddress).rkey(rkey);
  }

  /** Closes both ends. */
  @TearDown
  public void close() {
    one.close();
    other.close();
  }

  /** SEND of 64 bytes with the receive, both completions polled. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void send64() {
    for (int i = 0; i < OPERATIONS; i++) {
      transfer(send);
    }
  }

  /** The same with inline data. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void sendInline64() {
    for (int i = 0; i < OPERATIONS; i++) {
      transfer(inline);
    }
  }

  private void transfer(SendWorkRequest request) {
    other.queuePairs.getFirst().postReceive(receive);
    qp.postSend(request);
    await(one.sendCq);
    await(other.receiveCq);
  }

  /** WRITE of 64 KiB. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void write64k() {
    for (int i = 0; i < OPERATIONS; i++) {
      qp.postSend(write);
      await(one.sendCq);
    }
  }

  /** READ of 64 KiB. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void read64k() {
    for (int i = 0; i < OPERATIONS; i++) {
      qp.postSend(read);
      await(one.sendCq);
    }
  }

  /** WRITE of 64 bytes whose completion is waited for with an event. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void write64Event() {
    for (int i = 0; i < OPERATIONS; i++) {
      qp.postSend(smallWrite);
      while (one.pollOrSleep(one.sendCq, batch) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** WRITE of 64 bytes, posted in the style of {@code ibv_wr_start} and polled in that of {@code ibv_start_poll}. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void write64Builder() {
    for (int i = 0; i < OPERATIONS; i++) {
      builder.start();
      builder.wrId(i);
      builder.flags(SendFlag.SIGNALED);
      builder.rdmaWrite(rkey, remoteAddress);
      builder.setSge(one.region.lkey(), one.region.address(), SMALL);
      builder.complete();
      int polls = 0;
      while (!cursor.start()) {
        Service.pause(++polls);
      }
      if (cursor.status() != WcStatus.SUCCESS) {
        throw new IllegalStateException("failed: " + cursor.status());
      }
      cursor.end();
    }
  }

  /**
   * A poll that finds nothing.
   *
   * @return 0
   */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public int pollEmpty() {
    int found = 0;
    for (int i = 0; i < OPERATIONS; i++) {
      found += one.receiveCq.poll(batch);
    }
    return found;
  }

  private void await(CompletionQueue cq) {
    int polls = 0;
    while (RdmaEnd.requireSuccess(batch, cq.poll(batch)) == 0) {
      Service.pause(++polls);
    }
  }
}
