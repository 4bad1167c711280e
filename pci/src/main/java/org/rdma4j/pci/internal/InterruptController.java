package org.rdma4j.pci.internal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.rdma4j.pci.IrqHandler;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;

/**
 * Takes messages of functions and runs handlers (on a PC the local APICs, which answer to writes at 0xfee00000). The
 * data of a message is the number of the interrupt, its address names the processor.
 */
final class InterruptController implements MsixTable.Sink, AutoCloseable {
  private static final long BASE = 0xfee0_0000L;
  private static final int PROCESSOR_SHIFT = 12;
  private static final int FIRST = 32;
  private static final int MOST = 4096;
  private static final int MOST_THREADS = 8;

  private final List<IrqThread> threads = new ArrayList<>(); // guarded by this
  private volatile Irq[] irqs = new Irq[MOST]; // entries change under this
  private int next = FIRST;
  private boolean closed;

  /**
   * Connects a handler.
   *
   * @param vector the function's vector
   * @param processor wanted processor, counted round
   * @param name what it is for
   * @param handler the handler
   * @return the interrupt
   * @throws PciException ENOSPC when all numbers are in use
   */
  synchronized Irq connect(int vector, int processor, String name, IrqHandler handler) {
    Irq[] copy = irqs.clone();
    for (int i = FIRST; i < MOST; i++, next++) {
      if (next == MOST) {
        next = FIRST;
      }
      if (copy[next] == null) {
        Irq irq = new Irq(next, vector, name, thread(processor), handler);
        copy[next++] = irq;
        irqs = copy;
        return irq;
      }
    }
    throw new PciException(PciErrno.ENOSPC, "all " + (MOST - FIRST) + " interrupts are in use");
  }

  private IrqThread thread(int wanted) {
    if (closed) {
      throw new PciException(PciErrno.ENODEV, "the bus has stopped");
    }
    int processor = wanted % Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
    while (threads.size() <= processor) {
      threads.add(new IrqThread(threads.size()));
    }
    return threads.get(processor);
  }

  /** Message address of an interrupt. */
  static long addressOf(Irq irq) {
    return BASE | (long) irq.processor() << PROCESSOR_SHIFT;
  }

  /** Disconnects; returns when the handler does not run. */
  void disconnect(Irq irq) {
    irq.disconnect();
    synchronized (this) {
      Irq[] copy = irqs.clone();
      copy[irq.number()] = null;
      irqs = copy;
    }
  }

  @Override
  public void message(long address, int data) {
    if ((address & -(1L << 20)) == BASE && data >= FIRST && data < MOST) {
      Irq irq = irqs[data];
      if (irq != null) {
        irq.fire();
      }
    }
  }

  List<Irq> connected() {
    return Arrays.stream(irqs).filter(Objects::nonNull).toList();
  }

  @Override
  public void close() {
    List<IrqThread> running;
    synchronized (this) {
      closed = true;
      running = List.copyOf(threads);
      threads.clear();
    }
    running.forEach(IrqThread::stop);
  }
}
