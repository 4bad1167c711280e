package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;

/**
 * Arm, poll again, sleep: no consumer sleeps on while there is a completion for it, in any mode of arming and waiting,
 * several queues on a channel, while queues change their size and others come and go.
 */
@Timeout(180)
class NotificationStressTest {
  private static final int QUEUES = 3;
  private static final int EACH = Integer.getInteger("org.rdma4j.rxe.notifications", 1_000);
  private static final int ROUND_TRIPS = Integer.getInteger("org.rdma4j.rxe.notifications", 1_000);
  private static final int SOLICITED_EVERY = 3;
  private static final int BATCH = 50;
  private static final Duration LOST = Duration.ofSeconds(20);

  /** How a consumer arms, and makes sure that it sees what came before. */
  enum Arming {
    NEXT_COMP(CqNotify.NEXT_COMP, false),
    NEXT_COMP_REPORT_MISSED(CqNotify.NEXT_COMP, true),
    SOLICITED(CqNotify.SOLICITED, false),
    SOLICITED_REPORT_MISSED(CqNotify.SOLICITED, true);

    private final CqNotify which;
    private final boolean reportMissed;

    Arming(CqNotify which, boolean reportMissed) {
      this.which = which;
      this.reportMissed = reportMissed;
    }
  }

  /** How it waits. */
  enum Waiting {
    BLOCKING,
    CALLBACK
  }

  static Stream<Arguments> modes() {
    return Stream.of(Arming.values())
        .flatMap(arming -> Stream.of(Waiting.values()).map(waiting -> Arguments.of(arming, waiting)));
  }

  /** One queue and what its consumer has seen of it. */
  private static final class Seen {
    private final RxeCompletionQueue queue;
    private final WorkCompletion[] batch = WorkCompletion.batch(8);
    private final AtomicInteger next = new AtomicInteger();
    private volatile boolean wrong;

    Seen(RxeCompletionQueue queue) {
      this.queue = queue;
    }

    void takeAll() {
      for (int count = queue.poll(batch); count > 0; count = queue.poll(batch)) {
        for (int i = 0; i < count; i++) {
          wrong |= batch[i].wrId() != next.get() + i;
        }
        next.addAndGet(count);
      }
    }

    /** Until there is nothing more to be seen without an event. */
    void takeAndArm(Arming arming) {
      takeAll();
      while (queue.requestNotify(arming.which, arming.reportMissed)) {
        takeAll();
      }
      if (!arming.reportMissed) {
        takeAll();
      }
    }

    @Override
    public String toString() {
      return queue + ": " + next.get() + " of " + EACH + (wrong ? ", out of order" : "");
    }
  }

  @ParameterizedTest
  @MethodSource("modes")
  void nobodySleepsOn(Arming arming, Waiting waiting) throws Exception {
    try (TestLink link = TestLink.open("rxe0");
        Context context = link.open();
        ExecutorService threads = Executors.newFixedThreadPool(3)) {
      CompletionChannel channel = context.createCompletionChannel();
      List<Seen> all = new ArrayList<>();
      for (int i = 0; i < QUEUES; i++) {
        all.add(new Seen((RxeCompletionQueue) context.createCq(EACH, channel, 0)));
      }
      var done = new CountDownLatch(1);
      var events = new AtomicInteger();
      all.forEach(each -> each.takeAndArm(arming));
      Future<?> consumer = threads.submit(() -> consume(channel, all, arming, waiting, done, events));
      Future<?> disturber = threads.submit(() -> disturb(context, link, channel, all, done));
      boolean finished = false;
      try {
        produce(link, all, new SplittableRandom(arming.ordinal() * 2 + waiting.ordinal()));
        finished = done.await(LOST.toSeconds(), TimeUnit.SECONDS);
      } finally {
        done.countDown();
      }
      disturber.get();
      consumer.get();
      assertTrue(finished, () -> "a wake-up was lost: " + all + ", " + events + " events");
      all.forEach(each -> assertEquals(EACH, each.next.get(), each.toString()));
      assertTrue(all.stream().noneMatch(each -> each.wrong), all::toString);
      assertTrue(events.get() > 0, "the consumer never slept: nothing was tested");
      assertEquals(0, link.device.completionsLost());
    }
  }

  /**
   * On the engine's thread, as close to the consumer as can be: what must wake it is followed by nothing else that
   * would, before it was seen.
   */
  private static void produce(TestLink link, List<Seen> all, SplittableRandom random) {
    for (int from = 0; from < EACH; from += BATCH) {
      int first = from;
      boolean seen = link.device.engine().call(() -> produce(all, first, Math.min(first + BATCH, EACH), random));
      assertTrue(seen, () -> "a wake-up was lost: " + all);
    }
  }

  private static boolean produce(List<Seen> all, int from, int to, SplittableRandom random) {
    for (int id = from; id < to; id++) {
      // The last is always solicited: unsolicited ones behind it would wake nobody, and need not.
      boolean solicited = (EACH - 1 - id) % SOLICITED_EVERY == 0;
      for (Seen each : all) {
        each.queue.add(completion(id), solicited);
        for (int pause = random.nextInt(100); pause > 0; pause--) {
          Thread.onSpinWait();
        }
      }
      long deadline = System.nanoTime() + LOST.toNanos();
      while (solicited && !isSeen(all, id)) {
        if (System.nanoTime() - deadline > 0) {
          return false;
        }
        Thread.onSpinWait();
      }
    }
    return true;
  }

  private static boolean isSeen(List<Seen> all, int id) {
    for (Seen each : all) {
      if (each.next.get() <= id) {
        return false;
      }
    }
    return true;
  }

  private static Completion completion(long id) {
    Completion completion = new Completion();
    completion.id = id;
    completion.status = CompletionStatus.SUCCESS;
    completion.check = FailedCheck.NONE;
    return completion;
  }

  private static Object consume(
      CompletionChannel channel,
      List<Seen> all,
      Arming arming,
      Waiting waiting,
      CountDownLatch done,
      AtomicInteger events)
      throws InterruptedException {
    if (waiting == Waiting.CALLBACK) {
      channel.setHandler(queue -> take(queue, all, arming, done, events));
      done.await();
      channel.setHandler(null);
      return null;
    }
    while (done.getCount() > 0) {
      CompletionQueue queue = channel.getEvent(LOST);
      if (queue == null) {
        return null; // Who waits for the end tells what is missing.
      }
      take(queue, all, arming, done, events);
    }
    return null;
  }

  private static void take(
      CompletionQueue queue, List<Seen> all, Arming arming, CountDownLatch done, AtomicInteger events) {
    events.incrementAndGet();
    // Events of queues that come and go belong to nobody here.
    all.stream().filter(each -> each.queue.equals(queue)).forEach(each -> each.takeAndArm(arming));
    if (all.stream().allMatch(each -> each.next.get() == EACH)) {
      done.countDown();
    }
  }

  /** Changes the sizes, and makes, arms, fills and destroys other queues of the channel. */
  private static Object disturb(
      Context context, TestLink link, CompletionChannel channel, List<Seen> all, CountDownLatch done)
      throws InterruptedException {
    for (int round = 0; !done.await(1, TimeUnit.MILLISECONDS); round++) {
      all.get(round % QUEUES).queue.resize(round % 2 == 0 ? 2 * EACH : EACH);
      RxeCompletionQueue passing = (RxeCompletionQueue) context.createCq(4, channel, 0);
      passing.requestNotify(CqNotify.NEXT_COMP);
      link.device.engine().run(() -> passing.add(completion(-1), false));
      passing.destroy();
    }
    return null;
  }

  /** One of two that play ping-pong; each polls for a while, then sleeps. */
  private static final class Player {
    private final Context context;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final TestLink link;
    private int received;

    Player(TestLink link) {
      this.link = link;
      context = link.open();
      channel = context.createCompletionChannel();
      queue = context.createCq(16, channel, 0);
      ProtectionDomain domain = context.allocatePd();
      pair =
          domain.createQp(
              new QpInitAttributes(QpType.RC)
                  .sendCq(queue)
                  .recvCq(queue)
                  .capabilities(new QpCapabilities(4, 4, 1, 1, 0)));
    }

    void connect(Player peer) {
      int index = context.device().gidTable(1).find(link.gid).index();
      End.connect(pair, peer.link.gid, index, peer.pair.number(), PathMtu.MTU_1024);
      pair.postReceive(new ReceiveWorkRequest().wrId(1));
    }

    Object play(boolean first, SplittableRandom random) {
      WorkCompletion[] batch = WorkCompletion.batch(4);
      SendWorkRequest send = new SendWorkRequest().flags(SendFlag.SIGNALED | SendFlag.SOLICITED);
      if (first) {
        pair.postSend(send);
      }
      while (received < ROUND_TRIPS) {
        int before = received;
        for (int polls = random.nextInt(200); polls > 0 && received == before; polls--) {
          take(batch);
        }
        while (received == before) {
          boolean missed = queue.requestNotify(CqNotify.NEXT_COMP, true);
          take(batch);
          if (!missed && received == before && channel.getEvent(LOST) == null) {
            throw new AssertionError("a wake-up was lost after " + received + ": " + pair.query());
          }
        }
        if (!first || received < ROUND_TRIPS) {
          pair.postReceive(new ReceiveWorkRequest().wrId(1));
          pair.postSend(send);
        }
      }
      return null;
    }

    private void take(WorkCompletion[] batch) {
      int count = queue.poll(batch);
      for (int i = 0; i < count; i++) {
        assertEquals(WcStatus.SUCCESS, batch[i].status(), batch[i].toString());
        received += batch[i].wrId() == 1 ? 1 : 0;
      }
    }
  }

  /** Whoever polls drives the engine; when it sleeps, the engine's own thread must take over at once. */
  @Test
  void whoPollsAndThenSleepsIsWoken() throws Exception {
    try (TestLink left = TestLink.open("rxe0");
        TestLink right = TestLink.open("rxe1");
        ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Player a = new Player(left);
      Player b = new Player(right);
      a.connect(b);
      b.connect(a);
      Callable<Object> here = () -> a.play(true, new SplittableRandom(1));
      Callable<Object> there = () -> b.play(false, new SplittableRandom(2));
      Future<Object> first = threads.submit(here);
      Future<Object> second = threads.submit(there);
      first.get();
      second.get();
      a.context.close();
      b.context.close();
    }
  }
}
