package org.rdma4j.rdma.cm.internal.device;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.rdma4j.rdma.cm.ib.CmTimer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The manager's thread, there from its first work until it is closed (kernel: work queue {@code ib_cm} with one
 * worker). Work that is given after that, or waits then, is dropped.
 */
public final class CmThread implements CmTimer, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CmThread.class);
  private static final long PATIENCE_SECONDS = 10;

  private final String name;
  private final ScheduledThreadPoolExecutor executor;
  private volatile Thread thread;

  /** Makes one that has nothing to do. */
  public CmThread(String name) {
    this.name = name;
    this.executor =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              thread = Thread.ofPlatform().daemon().name(name).unstarted(work);
              return thread;
            },
            (work, stopped) -> LOG.debug("{} has stopped", name));
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public void execute(Runnable work) {
    schedule(work, 0);
  }

  @Override
  public void schedule(Runnable work, long milliseconds) {
    executor.schedule(() -> run(work), milliseconds, TimeUnit.MILLISECONDS);
  }

  private void run(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      LOG.error("{}: a piece of work failed", name, e);
    }
  }

  @Override
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Ends the thread, after the piece of work that it is at. */
  @Override
  public void close() {
    executor.shutdown();
    if (isCurrent()) {
      return;
    }
    try {
      boolean ended = executor.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
      Thread last = thread;
      if (ended && last != null && last.isAlive()) { // The executor is done a moment before its thread is.
        ended = last.join(Duration.ofSeconds(PATIENCE_SECONDS));
      }
      if (!ended) {
        LOG.warn("thread {} does not end", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
