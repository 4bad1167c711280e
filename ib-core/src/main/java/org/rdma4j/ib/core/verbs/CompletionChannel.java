package org.rdma4j.ib.core.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where events of completion queues arrive ({@code ibv_create_comp_channel}): taken by blocking calls, or handed to a
 * handler on a thread of the core. Safe for any thread.
 *
 * <p>Invariant: a queue whose event was not yet taken is in the list exactly once, linked through itself, so that
 * raising an event is one exchange and one unpark. An event means "poll this queue"; several of one queue that nobody
 * has taken yet are one. The flag that says a queue is listed is cleared before the event is handed out, so a
 * completion that comes while its consumer polls raises the next one.
 */
public final class CompletionChannel extends VerbsObject {
  private static final Logger LOG = LoggerFactory.getLogger(CompletionChannel.class);
  private static final VarHandle HEAD;
  private static final long JOIN_MILLIS = 5_000;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(CompletionChannel.class, "head", CompletionQueue.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ReentrantLock takers = new ReentrantLock();
  private volatile CompletionQueue head;
  private volatile Thread waiter;
  private volatile boolean ended;
  private CompletionQueue taken; // guarded by takers: events in order of arrival
  private volatile Consumer<CompletionQueue> handler;
  private volatile Thread dispatcher;

  CompletionChannel(ObjectContext owner) {
    super(owner, ObjectKind.COMPLETION_CHANNEL);
  }

  /**
   * Takes the next event, waiting for it ({@code ibv_get_cq_event}).
   *
   * @param timeout how long to wait; zero to look only; null to wait for ever
   * @return the queue to poll, or null where the time was over first
   * @throws VerbsException EBUSY where a handler takes the events, ECANCELED when interrupted (the interrupt flag stays
   *     set), EINVAL when the channel is destroyed, EIO after removal of the device when all events were taken
   */
  public CompletionQueue getEvent(Duration timeout) {
    if (handler != null) {
      throw new VerbsException(Errno.EBUSY, this + " has a handler that takes its events");
    }
    CompletionQueue cq = take(timeout == null ? Long.MAX_VALUE : timeout.toNanos(), false);
    if (cq == null && handler != null) {
      throw new VerbsException(Errno.EBUSY, this + " has a handler now that takes its events");
    }
    return cq;
  }

  /**
   * Hands events to a handler from now on. It runs on a thread of the core that belongs to this channel, one event
   * after the other; what it throws is logged and stops nothing.
   *
   * @param newHandler the handler, or null to go back to {@link #getEvent}; returns when the old one is out, unless
   *     called by it
   * @throws VerbsException EINVAL when the channel is destroyed, EIO after removal of the device
   */
  public void setHandler(Consumer<CompletionQueue> newHandler) {
    call(
        "set_handler",
        () -> {
          stopDispatcher();
          handler = newHandler; // who waits in getEvent leaves when it sees it
          if (newHandler != null) {
            Thread thread =
                Thread.ofPlatform()
                    .daemon()
                    .name("ib-comp " + context().deviceName() + " ctx " + context().id() + " #" + sequence())
                    .unstarted(this::dispatch);
            dispatcher = thread;
            LockSupport.unpark(waiter);
            thread.start();
          }
          return null;
        });
  }

  /** From the provider's thread: lists the queue and wakes who waits. */
  void notifyOf(CompletionQueue cq) {
    if (cq.notified.compareAndSet(false, true)) {
      CompletionQueue old;
      do {
        old = head;
        cq.nextNotified = old;
      } while (!HEAD.compareAndSet(this, old, cq));
      // The waiter publishes itself before it looks at the head again, so one of the two sees the other.
      LockSupport.unpark(waiter);
    }
  }

  private CompletionQueue take(long timeoutNanos, boolean dispatching) {
    Thread self = Thread.currentThread();
    long deadline = System.nanoTime() + timeoutNanos;
    boolean forever = timeoutNanos == Long.MAX_VALUE;
    try {
      if (forever) {
        takers.lockInterruptibly();
      } else if (!takers.tryLock(timeoutNanos, TimeUnit.NANOSECONDS)) {
        return null;
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    try {
      waiter = self;
      while (true) {
        CompletionQueue cq = next();
        if (cq != null) {
          return cq;
        }
        if (ended) {
          checkUsable();
          throw new VerbsException(Errno.EINVAL, this + " is destroyed");
        }
        if (Thread.interrupted()) {
          throw interrupted(null);
        }
        if (dispatching ? dispatcher != self : handler != null) {
          return null;
        }
        if (forever) {
          LockSupport.park(this);
        } else {
          long left = deadline - System.nanoTime();
          if (left <= 0) {
            return null;
          }
          LockSupport.parkNanos(this, left);
        }
      }
    } finally {
      waiter = null;
      takers.unlock();
    }
  }

  private VerbsException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new VerbsException(Errno.ECANCELED, "interrupted while waiting for an event of " + this, cause);
  }

  /** The oldest event of a queue that was not destroyed meanwhile, or null. Under the takers' lock. */
  private CompletionQueue next() {
    CompletionQueue first = nextListed();
    while (first != null && first.isDestroyed()) {
      first = nextListed();
    }
    return first;
  }

  private CompletionQueue nextListed() {
    if (taken == null) {
      CompletionQueue newest = (CompletionQueue) HEAD.getAndSet(this, null);
      while (newest != null) {
        CompletionQueue older = newest.nextNotified;
        newest.nextNotified = taken;
        taken = newest;
        newest = older;
      }
    }
    CompletionQueue first = taken;
    if (first != null) {
      taken = first.nextNotified;
      first.nextNotified = null;
      first.notified.set(false);
    }
    return first;
  }

  private void dispatch() {
    Thread self = Thread.currentThread();
    while (dispatcher == self) {
      CompletionQueue cq;
      try {
        cq = take(Long.MAX_VALUE, true);
      } catch (VerbsException e) {
        if (ended) {
          return;
        }
        Thread.interrupted(); // a handler's leftover; the loop ends by its own condition
        continue;
      }
      Consumer<CompletionQueue> current = handler;
      if (cq != null && current != null) {
        try {
          current.accept(cq);
        } catch (RuntimeException | Error e) {
          LOG.error("the handler of {} failed for {}", this, cq, e);
        }
      }
    }
  }

  /** Ends the dispatcher thread and waits for it, unless that is who asks. */
  private void stopDispatcher() {
    Thread thread = dispatcher;
    dispatcher = null;
    handler = null;
    if (thread == null || thread == Thread.currentThread()) {
      return;
    }
    LockSupport.unpark(thread);
    try {
      thread.join(JOIN_MILLIS);
      if (thread.isAlive()) {
        LOG.warn("the handler of {} still runs {} ms after its end", this, JOIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() {
    ended = true;
    LockSupport.unpark(waiter);
  }

  @Override
  void providerDestroy() {
    end();
    stopDispatcher();
  }

  /** Events already raised can still be taken; the dispatcher ends by itself after them. */
  @Override
  void providerRemove() {
    end();
  }
}
