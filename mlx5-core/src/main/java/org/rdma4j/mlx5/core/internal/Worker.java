package org.rdma4j.mlx5.core.internal;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** One thread for one kind of work of a card, there from the first piece of work on. */
final class Worker extends ScheduledThreadPoolExecutor {
  private final AtomicReference<Thread> thread;

  Worker(String name) {
    this(name, new AtomicReference<>());
  }

  private Worker(String name, AtomicReference<Thread> made) {
    super(
        1,
        task -> {
          Thread fresh = Thread.ofPlatform().daemon().name(name).unstarted(task);
          made.set(fresh);
          return fresh;
        });
    this.thread = made;
    setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    setRemoveOnCancelPolicy(true);
  }

  /** Ends it; returns when its thread has ended. What waits for its time is left undone. */
  void end() {
    shutdown();
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) {
      try {
        if (awaitTermination(1, TimeUnit.DAYS)) {
          Thread last = thread.get();
          if (last != null) {
            last.join();
          }
          ended = true;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
