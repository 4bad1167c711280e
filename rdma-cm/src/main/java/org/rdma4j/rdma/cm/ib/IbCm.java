package org.rdma4j.rdma.cm.ib;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The communication manager: ids, and what becomes of messages (kernel: cm.c). All of its own work and all events run
 * on one thread, so the events of an id come one by one; calls may come from any thread.
 */
public final class IbCm {
  private static final Logger LOG = LoggerFactory.getLogger(IbCm.class);

  final Object lock = new Object();
  final CmTables tables = new CmTables();
  private final CmTimer timer;
  private final CmReceiver receiver = new CmReceiver(this);

  /** Makes one that has no ids. */
  public IbCm(CmTimer timer) {
    this.timer = timer;
  }

  /** An id that does nothing yet. */
  public CmId create(CmPort port, CmHandler handler) {
    synchronized (lock) {
      return add(new CmId(this, port, handler, CmState.IDLE));
    }
  }

  CmId add(CmId id) {
    id.localId(tables.add(id));
    return id;
  }

  /** A message came to a port; it is looked at on the manager's thread. */
  public void receive(CmPort port, ReceivedCm message) {
    timer.execute(() -> receiver.receive(port, message));
  }

  /** {@return how much is known of connections and listeners: 0 when nothing is left} */
  public int size() {
    synchronized (lock) {
      return tables.size();
    }
  }

  boolean isCurrent() {
    return timer.isCurrent();
  }

  void schedule(Runnable work, long milliseconds) {
    timer.schedule(work, milliseconds);
  }

  void log(String text, Object... arguments) {
    LOG.debug(text, arguments);
  }

  void deliverLater(CmId id, CmEvent event) {
    timer.execute(() -> deliver(id, event));
  }

  /** Tells who has the id; on the manager's thread, without the lock. */
  void deliver(CmId id, CmEvent event) {
    synchronized (lock) {
      if (id.isDestroyed()) {
        return;
      }
      id.delivering(true);
    }
    CmHandler.Verdict verdict = CmHandler.Verdict.DESTROY;
    try {
      verdict = id.handler().onEvent(id, event);
    } catch (RuntimeException e) {
      LOG.error("the consumer of {} failed at {}; it is destroyed", id, event.getClass().getSimpleName(), e);
    } finally {
      synchronized (lock) {
        id.delivering(false);
        if (verdict != CmHandler.Verdict.KEEP) {
          id.destroy(verdict == CmHandler.Verdict.FORGET);
        }
        lock.notifyAll();
      }
    }
  }
}
