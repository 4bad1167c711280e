package org.rdma4j.ib.core.verbs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A target queue pair that is shared ({@code verbs.c:__ib_open_qp}): the provider's, which belongs to no user, and the
 * handles on it. It ends with the last of them.
 */
final class XrcTarget {
  private final XrcRegistry.Domain domain;
  private final List<XrcTargetHandle> handles = new CopyOnWriteArrayList<>();
  private QueuePair shared;
  private boolean destroyed; // guarded by this

  private XrcTarget(XrcRegistry.Domain domain) {
    this.domain = domain;
  }

  /** Makes the provider's queue pair in a context that nobody closes, for which its maker answers in listings. */
  static XrcTarget create(XrcRegistry.Domain domain, Context maker, QpInitAttributes init) {
    XrcTarget target = new XrcTarget(domain);
    Context nobody = new Context(maker);
    ObjectContext owner = new ObjectContext(nobody, ObjectKind.QUEUE_PAIR).with(init);
    DeviceState state = maker.state();
    target.shared =
        state.create(owner, QueuePair.class, () -> state.provider().createQp(owner, new QpInitAttributes(init)));
    target.shared.shareBy(target);
    domain.add(target);
    return target;
  }

  int number() {
    return shared.number();
  }

  /** Adds a handle; from inside a call that has entered the device. */
  synchronized XrcTargetHandle open(ObjectContext owner) {
    if (destroyed) {
      throw new VerbsException(Errno.EINVAL, "the target " + shared + " has just been destroyed");
    }
    XrcTargetHandle handle = new XrcTargetHandle(owner, this, shared);
    handles.add(handle);
    return handle;
  }

  /** One handle less; where the provider refuses to end the queue pair, the handle stays. */
  void close(XrcTargetHandle handle) {
    handles.remove(handle);
    boolean done = false;
    try {
      destroyUnlessOpen();
      done = true;
    } finally {
      if (!done) {
        handles.add(handle);
      }
    }
  }

  synchronized void destroyUnlessOpen() {
    if (handles.isEmpty() && !destroyed) {
      shared.destroy();
      destroyed = true;
      domain.remove(this);
    }
  }

  /** An event of the queue pair, for all who have opened it. */
  void raise(AsyncEventType type, int port) {
    for (XrcTargetHandle each : handles) {
      each.context().raise(type, each, port);
    }
  }
}
