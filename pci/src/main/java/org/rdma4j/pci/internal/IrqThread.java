package org.rdma4j.pci.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A processor as far as interrupts go: runs the handlers of those that are sent to it, one after the other. It sleeps
 * when there are none. Queueing neither blocks nor allocates.
 */
final class IrqThread {
  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(IrqThread.class, "head", Irq.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int processor;
  private final Thread thread;
  private volatile Irq head;
  private volatile boolean stopping;

  IrqThread(int processor) {
    this.processor = processor;
    this.thread = Thread.ofPlatform().name("pci-irq/" + processor).daemon().unstarted(this::run);
    thread.start();
  }

  int processor() {
    return processor;
  }

  Thread thread() {
    return thread;
  }

  /** Any thread; each interrupt is in the queue at most once. */
  void enqueue(Irq irq) {
    Irq first;
    do {
      first = head;
      irq.next = first;
    } while (!HEAD.compareAndSet(this, first, irq));
    if (first == null) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!stopping) {
      Irq waiting = (Irq) HEAD.getAndSet(this, (Irq) null);
      if (waiting == null) {
        LockSupport.park(this);
      } else {
        runAll(inOrder(waiting));
      }
    }
  }

  private static Irq inOrder(Irq last) {
    Irq first = null;
    for (Irq each = last; each != null; ) {
      Irq after = each.next;
      each.next = first;
      first = each;
      each = after;
    }
    return first;
  }

  private static void runAll(Irq first) {
    for (Irq each = first; each != null; ) {
      Irq after = each.next; // Running may queue it again.
      each.next = null;
      each.run();
      each = after;
    }
  }

  /** Stops; returns when no handler runs, unless a handler calls this. */
  void stop() {
    stopping = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive() && thread != Thread.currentThread()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
