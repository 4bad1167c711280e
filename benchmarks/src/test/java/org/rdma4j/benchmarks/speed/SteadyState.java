package org.rdma4j.benchmarks.speed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The steady state allocates nothing, to the byte, on the thread that posts and polls and on the threads of the devices
 * at both ends. Before the compiler has done its work there are allocations, so each operation is repeated until a
 * batch goes without.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SteadyState {
  private static final com.sun.management.ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);
  private final OperationBenchmark operations;
  private final List<String> names;
  private final int engines;
  private long[] threads;

  /**
   * Names what is looked at.
   *
   * @param names beginnings of names of the devices' threads
   * @param count how many of them there are at least
   */
  SteadyState(OperationBenchmark operations, List<String> names, int count) {
    this.operations = operations;
    this.names = names;
    this.engines = count;
  }

  @BeforeAll
  void connect() {
    operations.connect();
    threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(each -> each == Thread.currentThread() || names.stream().anyMatch(each.getName()::startsWith))
            .mapToLong(Thread::threadId)
            .toArray();
    assertEquals(1 + engines, threads.length, "this thread and " + names);
  }

  @AfterAll
  void close() {
    operations.close();
  }

  Stream<Map.Entry<String, Runnable>> operations() {
    return Stream.of(
        Map.entry("SEND", operations::send64),
        Map.entry("SEND inline", operations::sendInline64),
        Map.entry("WRITE", operations::write64k),
        Map.entry("READ", operations::read64k),
        Map.entry("WRITE with an event", operations::write64Event),
        Map.entry("WRITE with builder and cursor", operations::write64Builder),
        Map.entry("poll", operations::pollEmpty));
  }

  @ParameterizedTest
  @MethodSource("operations")
  void steadyStateAllocatesNothing(Map.Entry<String, Runnable> operation) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    long allocated;
    do {
      long before = allocated();
      operation.getValue().run();
      allocated = allocated() - before;
    } while (allocated > 0 && System.nanoTime() < deadline);
    assertEquals(0, allocated, "bytes allocated by 256 times " + operation.getKey());
  }

  /** Reading the counters thread by thread allocates nothing itself. */
  private long allocated() {
    long sum = 0;
    for (long id : threads) {
      sum += THREADS.getThreadAllocatedBytes(id);
    }
    return sum;
  }
}
