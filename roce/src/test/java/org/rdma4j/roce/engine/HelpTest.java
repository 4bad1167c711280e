package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** Users who poll drive the engine: one at a time, and only for as long as they do. */
@Timeout(120)
class HelpTest {
  private static final long PATIENCE_SECONDS = 60;
  private static final int REQUESTS = 2_000;
  private static final int POLLERS = 3;

  private final Fabric fabric = new Fabric(1, Clock.SYSTEM);
  private final List<Throwable> faults = new CopyOnWriteArrayList<>();
  private final List<Side> sides = new ArrayList<>();
  private final Side a = new Side(1);
  private final Side b = new Side(2);

  /** An engine with its thread, and a queue pair whose ring is a counter. */
  private final class Side implements QpHost, ReceiveSource {
    final ExclusiveLink link;
    final Engine engine;
    final EngineRunner runner;
    final AtomicLong posted = new AtomicLong();
    final AtomicLong completed = new AtomicLong();
    final CountDownLatch failed = new CountDownLatch(1);
    final int number;
    volatile Thread completer;
    QpContext qp;

    Side(int number) {
      this.number = number;
      link = new ExclusiveLink(fabric.endpoint(gid(number)));
      engine =
          new Engine(
              EngineConfig.ofPortMtu(4096), Clock.SYSTEM, link, key -> null, (where, cause) -> faults.add(cause));
      runner = new EngineRunner(engine, "engine " + number, Clock.SYSTEM, IdleStrategy.BLOCK);
      sides.add(this);
    }

    void connect(int timeout, int retries) {
      qp =
          engine.call(
              () -> {
                QpContext made = engine.create(new QpProfile(number, QpKind.RC, 1, false, 64, 1, 1), this, this);
                TestWorld.usual(made.settings());
                made.settings().timeout = timeout;
                made.settings().retryCount = retries;
                made.settings().destinationQp = 3 - number;
                made.settings().route = link.route(gid(number), gid(3 - number), 0, 0, 64);
                made.modify(TransportState.INIT);
                made.modify(TransportState.RTR);
                made.modify(TransportState.RTS);
                return made;
              });
    }

    void post() {
      posted.incrementAndGet();
      qp.ring();
    }

    /** Polls until it happens. */
    void pollUntil(BooleanSupplier happened) {
      while (!happened.getAsBoolean()) {
        runner.help(System.nanoTime());
        Thread.onSpinWait();
      }
    }

    /** Until a user's thread drives. */
    void pollUntilLent() {
      long before = runner.helped();
      pollUntil(() -> runner.helped() > before);
    }

    @Override
    public boolean fetchSend(long index, SendWork work) {
      if (index >= posted.get()) {
        return false;
      }
      work.id = index;
      work.opcode = WorkOpcode.RDMA_WRITE;
      work.signaled = true;
      return true;
    }

    @Override
    public void releaseSend(long index) {}

    @Override
    public void completeSend(Completion completion) {
      completer = Thread.currentThread();
      if (completion.status == CompletionStatus.SUCCESS) {
        completed.incrementAndGet();
      } else {
        failed.countDown();
      }
    }

    @Override
    public void completeReceive(Completion completion, boolean solicited) {}

    @Override
    public boolean take(ReceiveWork work) {
      return false;
    }

    @Override
    public boolean isShared() {
      return false;
    }

    @Override
    public FailedCheck executeLocal(SendWork work) {
      return FailedCheck.NONE;
    }

    @Override
    public FailedCheck invalidate(int key, int protectionDomain) {
      return FailedCheck.NONE;
    }

    @Override
    public void event(QpEvent event) {}

    @Override
    public void entered(TransportState state) {}
  }

  private static Gid gid(int number) {
    return Gid.parse("::ffff:192.0.2." + number);
  }

  private void connect(int timeout, int retries) {
    a.connect(timeout, retries);
    b.connect(timeout, retries);
  }

  @AfterEach
  void end() {
    for (Side side : sides) {
      side.runner.close();
      side.link.close();
      assertEquals(0, side.link.violations.get(), "uses of the link that overlap or come too late");
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void whoPollsCompletesHisOwnRequests() {
    connect(14, 7);
    int mine = 0;
    for (int i = 1; i <= REQUESTS; i++) {
      a.post();
      int wanted = i;
      a.pollUntil(() -> a.completed.get() == wanted);
      mine += a.completer == Thread.currentThread() ? 1 : 0;
    }
    assertTrue(mine > 0, "the engine's thread has completed all");
  }

  @Test
  void whatIsPostedMeanwhileLeavesAtOnce() {
    connect(14, 7);
    int left = 0;
    for (int i = 0; i < 100 && left == 0; i++) {
      a.pollUntilLent();
      long before = a.runner.helped();
      long sent = a.engine.counters().get(EngineCounter.SENT_PKTS);
      a.post();
      // Where the engine's thread came back in between, it was that one, perhaps later: try again.
      left += a.engine.counters().get(EngineCounter.SENT_PKTS) > sent && a.runner.helped() == before ? 1 : 0;
    }
    assertTrue(left > 0);
  }

  /** Everything at once; the link sees to it that nobody overlaps. */
  @Test
  void atMostOneDrives() throws InterruptedException {
    connect(14, 7);
    List<Thread> users = new ArrayList<>();
    for (Side side : List.of(a, b)) {
      for (int i = 0; i < POLLERS; i++) {
        users.add(Thread.ofPlatform().start(() -> side.pollUntil(() -> side.completed.get() >= REQUESTS)));
      }
      users.add(Thread.ofPlatform().start(() -> post(side)));
      users.add(Thread.ofPlatform().start(() -> command(side)));
    }
    for (Thread user : users) {
      user.join();
    }
    assertEquals(REQUESTS, a.completed.get());
    assertEquals(REQUESTS, b.completed.get());
  }

  private static void post(Side side) {
    for (int i = 0; i < REQUESTS; i++) {
      side.post();
      if (i % 64 == 0) {
        side.runner.recall();
      }
    }
  }

  private static void command(Side side) {
    for (int i = 0; i < REQUESTS / 4; i++) {
      int wanted = i;
      assertEquals(wanted, side.engine.call(() -> wanted));
    }
  }

  @Test
  void theThreadComesBackForPackets() throws InterruptedException {
    connect(14, 7);
    b.pollUntilLent();
    // Nobody polls at b any more, and nobody ever at a: still each request is answered.
    for (int i = 1; i <= 20; i++) {
      a.post();
      await(a, i);
      b.pollUntilLent();
    }
  }

  @Test
  void theThreadComesBackForPosts() throws InterruptedException {
    connect(14, 7);
    for (int i = 1; i <= 20; i++) {
      a.pollUntilLent();
      a.post();
      await(a, i);
    }
  }

  @Test
  void theThreadComesBackForTimers() throws InterruptedException {
    a.connect(6, 2);
    a.pollUntilLent();
    a.post(); // Nobody is there to answer.
    assertTrue(a.failed.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void timersFireForWhoPolls() {
    a.connect(6, 2);
    a.post();
    a.pollUntil(() -> a.failed.getCount() == 0);
  }

  @Test
  void whoGoesToSleepCallsTheThreadBack() throws InterruptedException {
    connect(14, 7);
    for (int i = 1; i <= 200; i++) {
      a.pollUntilLent();
      a.runner.recall();
      a.post();
      await(a, i);
    }
  }

  private static void await(Side side, long completions) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (side.completed.get() < completions && System.nanoTime() < end) {
      TimeUnit.MICROSECONDS.sleep(100);
    }
    assertEquals(completions, side.completed.get());
  }

  @Test
  void commandsMayBeGivenFromWithinADutyCycle() {
    connect(14, 7);
    for (int i = 0; i < 200; i++) {
      a.pollUntilLent();
      assertEquals(7, a.engine.call(() -> a.engine.call(() -> 7)));
      int[] ran = {0};
      a.engine.defer(() -> ran[0] = a.engine.call(() -> 8));
      a.pollUntil(() -> a.engine.call(() -> ran[0]) == 8);
    }
  }

  /** Deferred commands come before a later one that is waited for, whoever carries them out. */
  @Test
  void commandsKeepTheirOrder() {
    connect(14, 7);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 300; i += 3) {
      int first = i;
      a.pollUntilLent();
      a.engine.defer(() -> order.add(first));
      a.engine.defer(() -> order.add(first + 1));
      a.engine.run(() -> order.add(first + 2));
    }
    for (int i = 0; i < order.size(); i++) {
      assertEquals(i, order.get(i));
    }
  }

  /** A helper is in the middle of a duty cycle, on another thread than the one that closes. */
  @Test
  void closingWaitsForWhoHelps() throws InterruptedException {
    connect(14, 7);
    var stop = new CountDownLatch(1);
    List<Thread> users = new ArrayList<>();
    for (int i = 0; i < POLLERS; i++) {
      users.add(Thread.ofPlatform().start(() -> a.pollUntil(() -> stop.getCount() == 0)));
    }
    while (a.runner.helped() == 0) {
      Thread.onSpinWait();
    }
    var inside = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    a.engine.defer(
        () -> {
          inside.countDown();
          awaitUninterruptibly(goOn);
        });
    assertTrue(inside.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    Thread closer = Thread.ofPlatform().start(a.runner::close);
    while (closer.getState() == Thread.State.NEW || closer.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    assertTrue(closer.isAlive(), "closed while somebody is inside");
    goOn.countDown();
    closer.join();
    a.link.close();
    long helped = a.runner.helped();
    stop.countDown();
    for (Thread user : users) {
      user.join();
    }
    assertEquals(helped, a.runner.helped(), "helped an engine that has stopped");
    assertSame(Thread.currentThread(), a.engine.call(Thread::currentThread), "nobody drives it");
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aLinkThatMayNotBeLentIsDrivenByTheThread() {
    connect(14, 7);
    a.link.mayBeLent = false;
    a.runner.recall();
    a.engine.run(() -> { });
    long before = a.runner.helped();
    for (int i = 1; i <= 100; i++) {
      a.post();
      int wanted = i;
      a.pollUntil(() -> a.completed.get() == wanted);
      assertNotEquals(Thread.currentThread(), a.completer);
    }
    assertEquals(before, a.runner.helped());
  }

  /** An interrupted user helps as any other, and stays interrupted. */
  @Test
  void interruptsAreLeftAlone() {
    connect(14, 7);
    Thread.currentThread().interrupt();
    a.post();
    a.pollUntil(() -> a.completed.get() == 1);
    a.pollUntilLent();
    assertEquals(5, a.engine.call(() -> 5));
    assertTrue(Thread.interrupted());
  }
}
