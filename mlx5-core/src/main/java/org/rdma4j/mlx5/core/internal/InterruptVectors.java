package org.rdma4j.mlx5.core.internal;

import java.util.Arrays;
import org.rdma4j.pci.PciDevice;

/**
 * MSI-X vectors and the event queues that share them (kernel: {@code pci_irq.c}). The last vector is for commands,
 * pages and everything that is no completion; completion vector i has vector i.
 */
final class InterruptVectors {
  private static final EventQueue[] NONE = {};

  private final PciDevice pci;
  private final EventQueue[][] queues; // arrays are replaced as a whole under this

  InterruptVectors(PciDevice pci, int wanted) {
    this.pci = pci;
    int count = pci.allocateVectors(1, wanted);
    this.queues = new EventQueue[count][];
    for (int i = 0; i < count; i++) {
      queues[i] = NONE;
    }
  }

  int count() {
    return queues.length;
  }

  int control() {
    return queues.length - 1;
  }

  synchronized void attach(EventQueue queue, int vector) {
    EventQueue[] old = queues[vector];
    EventQueue[] more = Arrays.copyOf(old, old.length + 1);
    more[old.length] = queue;
    queues[vector] = more;
    if (old.length == 0) {
      // Completion vectors are spread over the processors, as the kernel's affinity hints do.
      pci.requestIrq(vector, vector, vector == control() ? "mlx5_async" : "mlx5_comp" + vector, this::handle);
    }
  }

  private void handle(int vector) {
    EventQueue[] all;
    synchronized (this) {
      all = queues[vector];
    }
    for (EventQueue each : all) {
      each.take();
    }
  }

  /** When this returns, the queue's handler does not run and will not. */
  void detach(EventQueue queue, int vector) {
    boolean last;
    synchronized (this) {
      queues[vector] =
          Arrays.stream(queues[vector]).filter(each -> each != queue).toArray(EventQueue[]::new);
      last = queues[vector].length == 0;
    }
    queue.stop();
    if (last) {
      pci.freeIrq(vector);
    }
  }

  void free() {
    pci.freeVectors();
  }
}
