package org.rdma4j.ib.core.verbs;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The asynchronous events of one context, in order, each once: to the handlers where there are any, else kept for
 * {@code getAsyncEvent}. Handlers run on a virtual thread that exists while there is something to hand out; none runs
 * under the lock.
 */
final class AsyncEvents {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncEvents.class);

  /** Events kept for a reader that does not come; the oldest go first. */
  private static final int KEPT = 4096;

  private static final long QUIET_MILLIS = 5_000;

  private final String name;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<AsyncEvent> queue = new ArrayDeque<>();
  private final List<Consumer<AsyncEvent>> handlers = new ArrayList<>();
  private Thread dispatcher;
  private boolean overrun;
  private boolean ended;
  private boolean closed;

  AsyncEvents(String name) {
    this.name = name;
  }

  void post(AsyncEvent event) {
    lock.lock();
    try {
      if (ended) {
        return;
      }
      if (queue.size() == KEPT) {
        queue.removeFirst();
        if (!overrun) {
          overrun = true;
          LOG.warn("nobody reads the asynchronous events of {}; the oldest are dropped", name);
        }
      }
      queue.addLast(event);
      dispatchLocked();
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  void addHandler(Consumer<AsyncEvent> handler) {
    lock.lock();
    try {
      handlers.add(handler);
      dispatchLocked();
    } finally {
      lock.unlock();
    }
  }

  void removeHandler(Consumer<AsyncEvent> handler) {
    lock.lock();
    try {
      handlers.remove(handler);
    } finally {
      lock.unlock();
    }
  }

  /** The next event; null where the time was over first, or where there is none and never will be again. */
  AsyncEvent take(Duration timeout) throws InterruptedException {
    long left = timeout == null ? Long.MAX_VALUE : timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (queue.isEmpty() || !handlers.isEmpty()) {
        if (ended || left <= 0) {
          return null;
        }
        left = changed.awaitNanos(left);
      }
      return queue.pollFirst();
    } finally {
      lock.unlock();
    }
  }

  boolean isEnded() {
    lock.lock();
    try {
      return ended;
    } finally {
      lock.unlock();
    }
  }

  /** No more events come; those there can still be taken. */
  void end() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nothing is handed out any more; waits, within bounds, for a handler that runs. */
  void close() {
    lock.lock();
    try {
      ended = true;
      closed = true;
      queue.clear();
      changed.signalAll();
      long left = TimeUnit.MILLISECONDS.toNanos(QUIET_MILLIS);
      while (dispatcher != null && dispatcher != Thread.currentThread() && left > 0) {
        left = changed.awaitNanos(left);
      }
      if (left <= 0) {
        LOG.warn("a handler of asynchronous events of {} still runs {} ms after the end", name, QUIET_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  private void dispatchLocked() {
    if (dispatcher == null && !handlers.isEmpty() && !queue.isEmpty() && !closed) {
      Thread thread = Thread.ofVirtual().name("ib-events " + name).unstarted(this::dispatch);
      dispatcher = thread;
      thread.start();
    }
  }

  private void dispatch() {
    while (true) {
      AsyncEvent event;
      List<Consumer<AsyncEvent>> current;
      lock.lock();
      try {
        event = handlers.isEmpty() ? null : queue.pollFirst();
        if (event == null) {
          dispatcher = null;
          changed.signalAll();
          return;
        }
        current = List.copyOf(handlers);
      } finally {
        lock.unlock();
      }
      for (Consumer<AsyncEvent> handler : current) {
        try {
          handler.accept(event);
        } catch (RuntimeException | Error e) {
          LOG.error("a handler of asynchronous events of {} failed for {}", name, event, e);
        }
      }
    }
  }
}
