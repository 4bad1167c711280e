package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.Mlx5EventListener;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Opcode;

/** Events go where they belong: completions, errors, requests for pages, everything else. */
@Timeout(300)
class EventTest {
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int SECONDS = 120;

  private final Bench bench = new Bench();

  /** Counts what happens to a queue. */
  private static final class Counting implements CompletionHandler {
    private final Semaphore completions = new Semaphore(0);
    private final BlockingQueue<Integer> errors = new LinkedBlockingQueue<>();

    @Override
    public void completed() {
      completions.release();
    }

    @Override
    public void failed(int syndrome) {
      errors.add(syndrome);
    }
  }

  @BeforeEach
  void start() {
    bench.start();
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private int eventQueueOfVector(int vector) {
    return bench.card.queueNumbers().stream().filter(each -> bench.card.isCompletion(each, vector)).findFirst().get();
  }

  @Test
  void completionsReachTheirQueue() throws InterruptedException {
    Counting one = new Counting();
    Counting two = new Counting();
    CoreCompletionQueue first = create(one);
    CoreCompletionQueue second = create(two);
    int eqn = eventQueueOfVector(0);
    // More than the event queue has entries, so that it wraps.
    for (int i = 0; i < 600; i++) {
      bench.card.completion(eqn, i % 3 == 0 ? second.number() : first.number());
      assertTrue((i % 3 == 0 ? two : one).completions.tryAcquire(SECONDS, TimeUnit.SECONDS));
    }
    assertEquals(400, first.armSequence());
    assertEquals(200, second.armSequence());
    first.destroy();
    bench.card.completion(eqn, first.number());
    bench.card.completion(eqn, second.number());
    assertTrue(two.completions.tryAcquire(SECONDS, TimeUnit.SECONDS));
    assertEquals(0, one.completions.availablePermits());
    second.destroy();
    assertEquals(2, bench.card.commands.stream().filter("DESTROY_CQ 0"::equals).count());
  }

  private CoreCompletionQueue create(CompletionHandler handler) {
    return bench.device().createCompletionQueue(CommandRequest.of(Opcode.CREATE_CQ), 0, handler);
  }

  @Test
  void manyAtOnceAreTakenInSeveralTurns() throws InterruptedException {
    Counting handler = new Counting();
    CoreCompletionQueue queue = create(handler);
    int eqn = eventQueueOfVector(0);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 190; i++) {
        bench.card.completion(eqn, queue.number());
      }
      assertTrue(handler.completions.tryAcquire(190, SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void errorsOfCompletionQueuesReachTheirQueue() throws InterruptedException {
    Counting handler = new Counting();
    CoreCompletionQueue queue = create(handler);
    bench.card.event(
        EventType.CQ_ERROR.number(),
        eqe -> {
          eqe.set(DWORD, 0x20, queue.number());
          eqe.set(DWORD, 0x28, 1);
        });
    assertEquals(1, handler.errors.poll(SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void vectorsAreSpreadOverProcessors() {
    for (int i = 0; i < bench.device().completionVectors(); i++) {
      assertEquals(i % Runtime.getRuntime().availableProcessors(), bench.device().completionProcessor(i));
    }
    assertThrows(Mlx5Exception.class, () -> bench.device().completionProcessor(99));
  }

  @Test
  void vectorsThatDoNotExistAreRefused() {
    assertThrows(
        Mlx5Exception.class,
        () -> bench.device().createCompletionQueue(CommandRequest.of(Opcode.CREATE_CQ), 99, new Counting()));
  }

  @Test
  void listenersHearOfEverythingElse() throws InterruptedException {
    BlockingQueue<Mlx5EventListener.Event> heard = new LinkedBlockingQueue<>();
    Mlx5EventListener listener =
        new Mlx5EventListener() {
          @Override
          public void event(Event event) {
            heard.add(event);
            throw new IllegalStateException("on purpose: it keeps nobody else from hearing");
          }

          @Override
          public void systemError() {
            throw new IllegalStateException("not in this test");
          }
        };
    bench.device().addListener(listener);
    bench.card.event(
        EventType.WQ_ACCESS_ERROR.number(),
        eqe -> {
          eqe.set(ValueLayout.JAVA_BYTE, 0x34, (byte) 2);
          eqe.set(DWORD, 0x38, 0x123);
        });
    assertEquals(
        new Mlx5EventListener.Event(EventType.WQ_ACCESS_ERROR, 0, 2, 0x123, 0),
        heard.poll(SECONDS, TimeUnit.SECONDS));
    bench.card.event(
        EventType.PORT_CHANGE.number(),
        eqe -> {
          eqe.set(ValueLayout.JAVA_BYTE, 3, (byte) 4);
          eqe.set(DWORD, 0x28, 1 << 28);
        });
    assertEquals(
        new Mlx5EventListener.Event(EventType.PORT_CHANGE, 4, 0, 0, 1), heard.poll(SECONDS, TimeUnit.SECONDS));
    bench.device().removeListener(listener);
    bench.card.event(EventType.PORT_CHANGE.number(), eqe -> {});
    assertEquals(List.of(), List.copyOf(heard));
  }

  @Test
  void pagesAreGivenTakenAndForgotten() {
    requestPages(30, false);
    await(178);
    requestPages(-50, false);
    await(128);
    bench.card.pages.clear();
    requestPages(0, true);
    requestPages(1, false);
    await(1);
    bench.bus.unplug(Bench.SLOT);
    assertEquals(0, bench.card.pages.size());
  }

  private void requestPages(int count, boolean releaseAll) {
    bench.card.event(
        EventType.PAGE_REQUEST.number(),
        eqe -> {
          eqe.set(DWORD, 0x20, releaseAll ? 1 << 14 : 0);
          eqe.set(DWORD, 0x24, count);
        });
  }

  private void await(int pages) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (bench.card.pages.size() != pages) {
      assertTrue(System.nanoTime() - end < 0, () -> bench.card.pages.size() + " pages");
      LockSupport.parkNanos(100_000);
    }
  }

  /** What the card wrote before is told although no interrupt has come, and told once. */
  @Test
  void eventsCanBeTakenByTheCaller() throws InterruptedException {
    BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
    bench
        .device()
        .addListener(
            new Mlx5EventListener() {
              @Override
              public void event(Event event) {
                heard.add(event.number());
              }

              @Override
              public void systemError() {
                throw new IllegalStateException("not in this test");
              }
            });
    bench.card.losesInterrupts = true;
    for (int i = 0; i < 200; i++) {
      int number = i;
      bench.card.event(EventType.WQ_ACCESS_ERROR.number(), eqe -> eqe.set(DWORD, 0x38, number));
    }
    bench.device().takeEvents();
    assertEquals(200, heard.size());
    bench.card.losesInterrupts = false;
    bench.card.event(EventType.WQ_ACCESS_ERROR.number(), eqe -> eqe.set(DWORD, 0x38, 200));
    for (int i = 0; i <= 200; i++) {
      assertEquals(i, heard.poll(SECONDS, TimeUnit.SECONDS));
    }
  }
}
