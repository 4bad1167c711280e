package org.rdma4j.ib.core.internal;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that tells of changes of network interfaces: at once where the kernel's rtnetlink socket can be had, else by
 * looking every few seconds.
 */
final class NetdevWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NetdevWatch.class);
  private static final long POLL_SECONDS = 3;
  private static final long JOIN_MILLIS = 5_000;

  private final Runnable onChange;
  private final RouteNetlink netlink;
  private final Thread thread;
  private final Object wake = new Object();
  private boolean closed; // guarded by wake

  NetdevWatch(Runnable onChange) {
    this.onChange = onChange;
    this.netlink = RouteNetlink.open();
    this.thread = Thread.ofPlatform().daemon().name("ib-core netdev").unstarted(this::run);
  }

  void start() {
    LOG.debug("changes of interfaces are seen by {}", netlink == null ? "looking" : "rtnetlink");
    thread.start();
  }

  @Override
  public void close() {
    synchronized (wake) {
      closed = true;
      wake.notifyAll();
    }
    if (netlink != null) {
      netlink.wakeup();
    }
    try {
      thread.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      LOG.warn("the watch on interfaces still runs after {} ms", JOIN_MILLIS);
    } else if (netlink != null) {
      netlink.close();
    }
  }

  private void run() {
    while (awaitChange()) {
      try {
        onChange.run();
      } catch (RuntimeException | Error e) {
        LOG.error("a change of interfaces could not be followed", e);
      }
    }
  }

  private boolean awaitChange() {
    if (netlink != null) {
      netlink.awaitChange();
    }
    synchronized (wake) {
      if (netlink == null && !closed) {
        try {
          TimeUnit.SECONDS.timedWait(wake, POLL_SECONDS);
        } catch (InterruptedException e) {
          LOG.debug("interrupted; looks at once", e);
        }
      }
      return !closed;
    }
  }
}
