package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.rxe.ring.CompletionRing;

/** Completion queues under many threads: nothing lost, nothing twice, no event missed. */
class CompletionStressTest {
  private static final int SMALL_RING = 7;
  private static final int POLLERS = 4;
  private static final int COMPLETIONS = 100_000;
  private static final int NOTIFIED = 10_000;
  private static final int RESIZED = 5_000;
  private static final Duration LOST = Duration.ofSeconds(20);

  private static Completion completion(long id) {
    Completion completion = new Completion();
    completion.id = id;
    completion.status = CompletionStatus.SUCCESS;
    completion.check = FailedCheck.NONE;
    completion.byteLength = (int) id;
    completion.qpNumber = (int) ~id;
    return completion;
  }

  @Test
  void severalPollersTakeEachCompletionOnce() throws Exception {
    CompletionRing ring = new CompletionRing(SMALL_RING);
    AtomicIntegerArray seen = new AtomicIntegerArray(COMPLETIONS);
    AtomicLong taken = new AtomicLong();
    try (ExecutorService threads = Executors.newFixedThreadPool(POLLERS + 1)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < POLLERS; i++) {
        SplittableRandom random = new SplittableRandom(i);
        all.add(threads.submit(() -> poll(ring, seen, taken, random)));
      }
      all.add(
          threads.submit(
              () -> {
                for (int id = 0; id < COMPLETIONS; id++) {
                  Completion next = completion(id);
                  while (!ring.add(next, false)) {
                    Thread.onSpinWait();
                  }
                }
              }));
      for (Future<?> each : all) {
        each.get();
      }
    }
    for (int id = 0; id < COMPLETIONS; id++) {
      assertEquals(1, seen.get(id), "completion " + id);
    }
    assertEquals(0, ring.size());
  }

  private static Object poll(CompletionRing ring, AtomicIntegerArray seen, AtomicLong taken, SplittableRandom random) {
    WorkCompletion[] batch = WorkCompletion.batch(SMALL_RING);
    while (taken.get() < COMPLETIONS) {
      int count = ring.poll(batch, random.nextInt(1, SMALL_RING + 1));
      for (int i = 0; i < count; i++) {
        assertEquals((int) batch[i].wrId(), batch[i].byteLength(), "a torn completion");
        assertEquals((int) ~batch[i].wrId(), batch[i].qpNumber(), "a torn completion");
        seen.incrementAndGet((int) batch[i].wrId());
      }
      taken.addAndGet(count);
    }
    return null;
  }

  /** The queue changes its size while it is polled by batch and by cursor. */
  @Test
  void resizingLosesAndDoublesNothing() throws Exception {
    try (TestLink link = TestLink.open("rxe0");
        Context context = link.open();
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      RxeCompletionQueue cq = (RxeCompletionQueue) context.createCq(RESIZED, null, 0);
      AtomicIntegerArray seen = new AtomicIntegerArray(RESIZED);
      AtomicLong taken = new AtomicLong();
      Future<Object> poller = threads.submit(() -> take(cq, seen, taken));
      Future<?> resizer =
          threads.submit(
              () -> {
                for (int size = RESIZED; taken.get() < RESIZED; size = size == RESIZED ? 2 * RESIZED : RESIZED) {
                  cq.resize(size);
                }
              });
      for (int id = 0; id < RESIZED; id++) {
        Completion next = completion(id);
        link.device.engine().run(() -> cq.add(next, false));
      }
      poller.get();
      resizer.get();
      for (int id = 0; id < RESIZED; id++) {
        assertEquals(1, seen.get(id), "completion " + id);
      }
      assertEquals(0, link.device.completionsLost());
    }
  }

  /** Takes by batch and by cursor in turn. */
  private static Object take(RxeCompletionQueue cq, AtomicIntegerArray seen, AtomicLong taken) {
    WorkCompletion[] batch = WorkCompletion.batch(3);
    while (taken.get() < RESIZED) {
      int count = cq.poll(batch);
      for (int i = 0; i < count; i++) {
        seen.incrementAndGet((int) batch[i].wrId());
      }
      taken.addAndGet(count);
      if (cq.cursor().start()) {
        int found = 0;
        do {
          seen.incrementAndGet((int) cq.cursor().wrId());
          found++;
        } while (found < 4 && cq.cursor().next());
        cq.cursor().end();
        taken.addAndGet(found);
      }
    }
    return null;
  }

  /** How a consumer makes sure that it sees what came while it armed. */
  enum Style {
    POLL_AGAIN,
    REPORT_MISSED,
    SOLICITED
  }

  /** Arms, polls until empty, sleeps until the event; the engine's part is played by this test's thread. */
  @ParameterizedTest
  @EnumSource(Style.class)
  void noEventIsLost(Style style) throws Exception {
    try (TestLink link = TestLink.open("rxe0");
        Context context = link.open();
        ExecutorService consumer = Executors.newSingleThreadExecutor()) {
      CompletionChannel channel = context.createCompletionChannel();
      RxeCompletionQueue cq = (RxeCompletionQueue) context.createCq(NOTIFIED, channel, 0);
      Callable<Integer> work = () -> consume(cq, channel, style);
      Future<Integer> events = consumer.submit(work);
      SplittableRandom random = new SplittableRandom(style.ordinal());
      for (int id = 0; id < NOTIFIED; id++) {
        cq.add(completion(id), style == Style.SOLICITED);
        for (int pause = random.nextInt(300); pause > 0; pause--) {
          Thread.onSpinWait();
        }
      }
      int raised = events.get();
      assertFalse(raised == 0 && style != Style.REPORT_MISSED, "the consumer never slept: nothing was tested");
    }
  }

  private static int consume(RxeCompletionQueue cq, CompletionChannel channel, Style style) {
    WorkCompletion[] batch = WorkCompletion.batch(16);
    CqNotify which = style == Style.SOLICITED ? CqNotify.SOLICITED : CqNotify.NEXT_COMP;
    long next = 0;
    int events = 0;
    while (true) {
      boolean missed = cq.requestNotify(which, style == Style.REPORT_MISSED);
      if (style != Style.REPORT_MISSED || missed) {
        for (int count = cq.poll(batch); count > 0; count = cq.poll(batch)) {
          for (int i = 0; i < count; i++) {
            assertEquals(next++, batch[i].wrId());
          }
        }
        if (missed) {
          continue;
        }
      }
      if (next == NOTIFIED) {
        return events;
      }
      assertNotNull(channel.getEvent(LOST), "an event was lost after completion " + next);
      events++;
    }
  }
}
