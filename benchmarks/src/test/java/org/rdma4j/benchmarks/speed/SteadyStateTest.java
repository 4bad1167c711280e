package org.rdma4j.benchmarks.speed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The steady state allocates nothing, to the byte, on the thread that posts and polls and on the threads of both
 * engines. Before the compiler has done its work there are allocations, so each operation is repeated until a batch
 * goes without.
 */
class SteadyStateTest {
  private static final com.sun.management.ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final OperationBenchmark OPERATIONS = new OperationBenchmark();
  private static long[] threads;

  @BeforeAll
  static void connect() {
    OPERATIONS.connect();
    long self = Thread.currentThread().threadId();
    threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.threadId() == self || thread.getName().startsWith("rxe-"))
            .mapToLong(Thread::threadId)
            .toArray();
    assertEquals(3, threads.length, "this thread and two engines");
  }

  @AfterAll
  static void close() {
    OPERATIONS.close();
  }

  static Stream<Map.Entry<String, Runnable>> operations() {
    return Stream.of(
        Map.entry("SEND", OPERATIONS::send64),
        Map.entry("SEND inline", OPERATIONS::sendInline64),
        Map.entry("WRITE", OPERATIONS::write64k),
        Map.entry("READ", OPERATIONS::read64k),
        Map.entry("WRITE with an event", OPERATIONS::write64Event),
        Map.entry("WRITE with builder and cursor", OPERATIONS::write64Builder),
        Map.entry("poll", OPERATIONS::pollEmpty));
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
  private static long allocated() {
    long sum = 0;
    for (long id : threads) {
      sum += THREADS.getThreadAllocatedBytes(id);
    }
    return sum;
  }
}
