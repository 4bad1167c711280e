package org.rdma4j.ib.core.internal;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs foreign code on a thread of its own and waits for it within bounds: after a while it is named in the log with
 * its stack, later it is left behind. Waiting goes on when the caller is interrupted; the interrupt is kept.
 */
final class Watch {
  private static final Logger LOG = LoggerFactory.getLogger(Watch.class);

  private Watch() {}

  /** Runs the code; false where it was left behind. What it throws must be handled inside. */
  static boolean run(String what, Runnable code, Settings settings) {
    Thread thread = Thread.ofPlatform().daemon().name("ib-core " + what).unstarted(code);
    thread.start();
    long limit = settings.clientLimitMillis();
    boolean interrupted = false;
    try {
      long start = System.nanoTime();
      boolean warned = false;
      while (true) {
        long next = warned ? limit : Math.min(settings.clientWarnMillis(), limit);
        Duration left = Duration.ofMillis(next).minusNanos(System.nanoTime() - start);
        try {
          if (thread.join(left.isNegative() ? Duration.ZERO : left)) {
            return true;
          }
        } catch (InterruptedException e) {
          interrupted = true;
          continue;
        }
        if (warned) {
          LOG.warn("{} is left behind after {} ms", what, limit);
          return false;
        }
        LOG.warn("{} does not return; after {} ms it is at:\n{}", what, next, stack(thread));
        warned = true;
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Where a thread is now, one frame a line. */
  static String stack(Thread thread) {
    return Arrays.stream(thread.getStackTrace()).map(each -> "    at " + each).collect(Collectors.joining("\n"));
  }
}
