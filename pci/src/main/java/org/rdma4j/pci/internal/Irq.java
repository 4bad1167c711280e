package org.rdma4j.pci.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.rdma4j.pci.IrqHandler;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One interrupt and its handler. Messages that arrive while it waits for its thread are one; those that arrive while
 * the handler runs make it run once more: none is lost and none is queued twice.
 */
final class Irq {
  private static final Logger LOG = LoggerFactory.getLogger(Irq.class);
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Irq.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int IDLE = 0;
  private static final int QUEUED = 1;
  private static final int RUNNING = 2;
  private static final int RUNNING_AGAIN = 3;

  private final int number;
  private final int vector;
  private final String name;
  private final IrqThread thread;
  private volatile IrqHandler handler;
  private volatile int state = IDLE;
  private long runs; // interrupt thread only
  private volatile long count;
  private boolean failed;

  /** Link in the thread's queue. */
  Irq next;

  Irq(int number, int vector, String name, IrqThread thread, IrqHandler handler) {
    this.number = number;
    this.vector = vector;
    this.name = name;
    this.thread = thread;
    this.handler = handler;
  }

  int number() {
    return number;
  }

  String name() {
    return name;
  }

  long count() {
    return count;
  }

  int processor() {
    return thread.processor();
  }

  /** A message has come. Any thread. */
  void fire() {
    int now = state;
    while (now == IDLE || now == RUNNING) {
      if (STATE.compareAndSet(this, now, now == IDLE ? QUEUED : RUNNING_AGAIN)) {
        if (now == IDLE) {
          thread.enqueue(this);
        }
        return;
      }
      now = state;
    }
  }

  /** Runs the handler; interrupt thread. */
  void run() {
    state = RUNNING;
    IrqHandler target = handler;
    if (target != null) {
      runs++;
      count = runs;
      try {
        target.handle(vector);
      } catch (RuntimeException | LinkageError e) {
        report(e);
      }
    }
    if (!STATE.compareAndSet(this, RUNNING, IDLE)) {
      state = QUEUED;
      thread.enqueue(this);
    }
    synchronized (this) {
      notifyAll();
    }
  }

  private void report(Throwable e) {
    if (!failed) {
      failed = true;
      LOG.error("handler of irq {} ({}) failed; further failures of it are not logged", number, name, e);
    }
  }

  /** Refuses a handler that would wait for itself. */
  void checkOutside() {
    if (state >= RUNNING && Thread.currentThread() == thread.thread()) {
      throw new PciException(PciErrno.EDEADLK, "irq " + number + " (" + name + ") is freed by its own handler");
    }
  }

  /** Takes the handler away; returns when it does not run. */
  void disconnect() {
    handler = null;
    boolean interrupted = false;
    synchronized (this) {
      while (state >= RUNNING) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
