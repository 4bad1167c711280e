package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Link;

/** What the thread of an engine does while nothing comes: how often it looks, how often it sleeps. */
@Timeout(60)
class IdleStrategyTest {
  private static final int ENOUGH = 200;
  private static final Duration LONG = Duration.ofNanos(1_000_000);

  private final AtomicLong looks = new AtomicLong();
  private final AtomicLong sleeps = new AtomicLong();
  private final AtomicLong now = new AtomicLong();

  /** On this link nothing ever comes; a sleep ends at once. */
  private final Link link =
      (Link)
          Proxy.newProxyInstance(
              Link.class.getClassLoader(),
              new Class<?>[] {Link.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("receive")) {
                  looks.incrementAndGet();
                } else if (method.getName().equals("await")) {
                  sleeps.incrementAndGet();
                } else if (method.getName().equals("mayBeLent")) {
                  return true;
                }
                return method.getReturnType() == int.class ? 0 : null;
              });

  private void run(IdleStrategy idle, Runnable meanwhile) {
    Clock clock = now::get;
    Engine engine = new Engine(EngineConfig.ofPortMtu(4096), clock, link, key -> null, (where, cause) -> { });
    try (EngineRunner runner = new EngineRunner(engine, "engine under test", clock, idle)) {
      meanwhile.run();
      assertTrue(runner.helped() >= 0);
    }
  }

  private static void await(AtomicLong counter, long value) {
    while (counter.get() < value) {
      LockSupport.parkNanos(100_000);
    }
  }

  @Test
  void whoSpinsNeverSleeps() {
    run(IdleStrategy.SPIN, () -> await(looks, ENOUGH));
    assertEquals(0, sleeps.get());
  }

  @Test
  void whoBlocksSleepsAfterEveryLook() {
    run(IdleStrategy.BLOCK, () -> await(sleeps, ENOUGH));
    assertTrue(looks.get() <= sleeps.get() + 1, looks + " looks, " + sleeps + " sleeps");
  }

  @Test
  void whoBacksOffSleepsWhenTheTimeIsOver() {
    run(
        IdleStrategy.backOff(LONG),
        () -> {
          await(looks, ENOUGH);
          assertEquals(0, sleeps.get());
          now.addAndGet(LONG.toNanos() - 1);
          long before = looks.get();
          await(looks, before + 2);
          assertEquals(0, sleeps.get());
          now.incrementAndGet();
          await(sleeps, ENOUGH);
          long looked = looks.get();
          long slept = sleeps.get();
          await(sleeps, slept + ENOUGH);
          assertTrue(looks.get() - looked <= sleeps.get() - slept + 2, "it polls although the time is over");
        });
  }

  @Test
  void aUserDoesNotDriveWhatSpins() {
    Clock clock = now::get;
    Engine engine = new Engine(EngineConfig.ofPortMtu(4096), clock, link, key -> null, (where, cause) -> { });
    try (EngineRunner runner = new EngineRunner(engine, "engine under test", clock, IdleStrategy.SPIN)) {
      for (int i = 0; i < ENOUGH; i++) {
        long before = looks.get();
        runner.help(System.nanoTime());
        await(looks, before + 1);
      }
      assertEquals(0, runner.helped());
    }
  }

  @Test
  void negativeTimesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> IdleStrategy.backOff(Duration.ofNanos(-1)));
  }
}
