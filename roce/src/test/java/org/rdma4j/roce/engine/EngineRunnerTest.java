package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;
import org.rdma4j.roce.link.Link;

/** Engines with threads of their own, in real time: doorbells, commands, stopping. */
@Timeout(60)
class EngineRunnerTest {
  private static final long PATIENCE_SECONDS = 30;

  private final Fabric fabric = new Fabric(1, Clock.SYSTEM);
  private final List<Throwable> faults = new CopyOnWriteArrayList<>();

  /** A host whose ring is a counter that another thread moves. */
  private static final class Host implements QpHost, ReceiveSource {
    final AtomicLong posted = new AtomicLong();
    final AtomicLong completed = new AtomicLong();
    volatile CountDownLatch done = new CountDownLatch(0);
    final AtomicLong fatal = new AtomicLong();
    volatile boolean throwsEverything;
    volatile boolean throwsErrors;

    @Override
    public boolean fetchSend(long index, SendWork work) {
      if (throwsEverything) {
        throw new UnsupportedOperationException("host");
      }
      if (throwsErrors) {
        throw new InternalError("a mapped file was cut");
      }
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
      if (completion.status == CompletionStatus.SUCCESS) {
        completed.incrementAndGet();
      }
      done.countDown();
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
    public void event(QpEvent event) {
      if (event == QpEvent.FATAL) {
        fatal.incrementAndGet();
      }
    }

    @Override
    public void entered(TransportState state) {}
  }

  private Engine engine(int number) {
    return new Engine(
        EngineConfig.ofPortMtu(4096), Clock.SYSTEM, fabric.endpoint(gid(number)), key -> null,
        (where, cause) -> faults.add(cause));
  }

  private EngineRunner run(Engine engine, IdleStrategy idle) {
    return new EngineRunner(engine, "engine of " + engine.hashCode(), Clock.SYSTEM, idle);
  }

  private static Gid gid(int number) {
    return Gid.parse("::ffff:192.0.2." + number);
  }

  private static QpContext ready(Engine engine, int port, Host host) {
    return engine.call(
        () -> {
          QpContext qp = engine.create(new QpProfile(port, QpKind.RC, 1, false, 64, 1, 1), host, host);
          TestWorld.usual(qp.settings());
          qp.settings().timeout = 14;
          qp.settings().retryCount = 7; // for ever: engines that spin may keep the processors from each other
          qp.settings().destinationQp = 3 - port;
          qp.settings().route = engine.link().route(gid(port), gid(3 - port), 0, 0, 64);
          qp.modify(TransportState.INIT);
          qp.modify(TransportState.RTR);
          qp.modify(TransportState.RTS);
          return qp;
        });
  }

  @ParameterizedTest
  @EnumSource
  void noDoorbellIsLost(IdleStrategy.Mode mode) throws InterruptedException {
    IdleStrategy idle = new IdleStrategy(mode, Duration.ofNanos(20_000));
    Engine a = engine(1);
    Engine b = engine(2);
    Host host = new Host();
    try (EngineRunner runA = run(a, idle);
        EngineRunner runB = run(b, idle)) {
      QpContext qp = ready(a, 1, host);
      ready(b, 2, new Host());
      for (int i = 1; i <= 3000; i++) {
        host.done = new CountDownLatch(1);
        host.posted.incrementAndGet();
        qp.ring();
        assertTrue(host.done.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "request " + i + " of " + runA + runB);
      }
      assertEquals(3000, host.completed.get());
    } finally {
      a.link().close();
      b.link().close();
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void commandsRunOnTheThreadOfTheEngine() {
    Engine engine = engine(1);
    assertEquals(Thread.currentThread(), engine.call(Thread::currentThread), "nobody drives it");
    try (EngineRunner runner = run(engine, IdleStrategy.BLOCK)) {
      assertFalse(Thread.currentThread().equals(engine.call(Thread::currentThread)), () -> "" + runner);
      assertThrows(ArithmeticException.class, () -> engine.run(() -> Math.floorDiv(1, 0)));
      assertEquals(5, engine.call(() -> engine.call(() -> 5)), "from a command");
    }
    assertEquals(Thread.currentThread(), engine.call(Thread::currentThread));
    engine.link().close();
  }

  @Test
  void aDeferredCommandThatFailsKeepsNoOtherFromRunning() {
    Engine engine = engine(1);
    int[] ran = {0};
    engine.defer(
        () -> {
          throw new UnsupportedOperationException("command");
        });
    engine.defer(() -> ran[0]++);
    engine.doWork();
    assertEquals(1, ran[0]);
    assertEquals(1, faults.size());
    engine.link().close();
  }

  @Test
  void oneDriverAtATime() {
    Engine engine = engine(1);
    try (EngineRunner runner = run(engine, IdleStrategy.BLOCK)) {
      assertThrows(IllegalStateException.class, () -> run(engine, IdleStrategy.BLOCK), () -> "" + runner);
    }
    engine.link().close();
  }

  @Test
  void anErrorEndsOneQueuePairAndIsToldOnce() throws InterruptedException {
    Engine a = engine(1);
    Engine b = engine(2);
    Host bad = new Host();
    try (EngineRunner runA = run(a, IdleStrategy.BLOCK);
        EngineRunner runB = run(b, IdleStrategy.BLOCK)) {
      QpContext qp = ready(a, 1, bad);
      ready(b, 2, new Host());
      bad.throwsErrors = true;
      for (int i = 0; i < 3; i++) {
        qp.ring();
        a.run(() -> { });
      }
      assertEquals(TransportState.ERR, a.call(qp::state), () -> "" + runA + runB);
      assertEquals(1, bad.fatal.get());
      assertEquals(1, faults.size());
      assertEquals(InternalError.class, faults.getFirst().getClass());
      assertTrue(a.counters().get(EngineCounter.FAULTS) >= 1);
    } finally {
      a.link().close();
      b.link().close();
    }
  }

  /** Errors outside of queue pairs, and a handler that fails itself: the thread goes on. */
  @Test
  void nothingEndsTheThread() throws InterruptedException {
    var told = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    EngineFaultHandler handler =
        (where, cause) -> {
          told.countDown();
          throw new AssertionError("handler");
        };
    Engine engine =
        new Engine(EngineConfig.ofPortMtu(4096), Clock.SYSTEM, fabric.endpoint(gid(1)), key -> null, handler);
    try (EngineRunner runner = new EngineRunner(engine, "engine under test", Clock.SYSTEM, IdleStrategy.BLOCK)) {
      engine.defer(
          () -> {
            throw new StackOverflowError();
          });
      engine.defer(goOn::countDown);
      assertTrue(told.await(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "" + runner);
      assertTrue(goOn.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
      assertFalse(Thread.currentThread().equals(engine.call(Thread::currentThread)));
    }
    engine.link().close();
  }

  /** A link that fails always is told of once, and can still be closed. */
  @Test
  void aLinkThatFailsIsToldOnce() throws InterruptedException {
    var calls = new CountDownLatch(20);
    Link broken =
        (Link)
            Proxy.newProxyInstance(
                Link.class.getClassLoader(),
                new Class<?>[] {Link.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("receive") || method.getName().equals("await")) {
                    calls.countDown();
                    throw new IllegalStateException("the link is broken");
                  }
                  return method.getReturnType() == int.class ? 0 : null;
                });
    Engine engine =
        new Engine(EngineConfig.ofPortMtu(4096), Clock.SYSTEM, broken, key -> null, (where, e) -> faults.add(e));
    try (EngineRunner runner = run(engine, IdleStrategy.BLOCK)) {
      assertTrue(calls.await(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "" + runner);
      assertEquals(5, engine.call(() -> 5));
    }
    assertEquals(1, faults.size());
  }

  @Test
  void aHostThatThrowsStopsOneQueuePairOnly() throws InterruptedException {
    Engine a = engine(1);
    Engine b = engine(2);
    Host bad = new Host();
    try (EngineRunner runA = run(a, IdleStrategy.BLOCK);
        EngineRunner runB = run(b, IdleStrategy.BLOCK)) {
      QpContext qp = ready(a, 1, bad);
      ready(b, 2, new Host());
      bad.throwsEverything = true;
      qp.ring();
      a.run(() -> { });
      bad.throwsEverything = false;
      assertEquals(TransportState.ERR, a.call(qp::state), () -> "" + runA + runB);
      assertTrue(faults.size() >= 1);
      Host good = new Host();
      a.run(() -> a.destroy(qp));
      b.run(() -> { });
      QpContext other = ready(a, 1, good);
      good.done = new CountDownLatch(1);
      good.posted.incrementAndGet();
      other.ring();
      assertTrue(good.done.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
      assertEquals(1, good.completed.get());
    } finally {
      a.link().close();
      b.link().close();
    }
  }
}
