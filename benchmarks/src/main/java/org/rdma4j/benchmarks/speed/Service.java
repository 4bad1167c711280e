package org.rdma4j.benchmarks.speed;

import java.util.function.BooleanSupplier;

/** The thread of a serving side, and what went wrong on it. */
final class Service {
  /** Polls this often before the processor is given to whoever else wants it. */
  private static final int POLLS_BEFORE_YIELD = 16;

  /** What a serving side does until it is told to stop. */
  interface Loop {
    void run(BooleanSupplier goesOn) throws Exception;
  }

  private final Thread thread;
  private volatile boolean stopping;
  private volatile Throwable failure;

  Service(Loop loop) {
    thread = Thread.ofPlatform().name("service").start(() -> guard(loop));
  }

  private void guard(Loop loop) {
    try {
      loop.run(() -> !stopping);
    } catch (Exception | AssertionError e) {
      failure = e;
    }
  }

  /** Ends the loop and reports what it came to. */
  void stop() {
    stopping = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException(failure.toString(), failure);
    }
  }

  /** One round of polling without result; {@code polls} counts them. */
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it: a yield that does nothing is a spin
  static void pause(int polls) {
    if (polls % POLLS_BEFORE_YIELD == 0) {
      Thread.yield();
    } else {
      Thread.onSpinWait();
    }
  }
}
