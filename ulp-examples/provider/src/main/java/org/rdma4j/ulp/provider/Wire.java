package org.rdma4j.ulp.provider;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;

/**
 * What all devices of this bundle hang on, and the one lock under which everything happens. Whoever changes something
 * also carries out what has become possible by that, before the lock is given up: there is no thread here. A real
 * device has its own time; then posting only rings, and completions come from elsewhere.
 */
final class Wire {
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Gid, LoopDevice> addresses = new HashMap<>();
  private final Set<LoopQp> busy = new LinkedHashSet<>();

  <T> T call(Supplier<T> change) {
    lock.lock();
    try {
      return change.get();
    } finally {
      settle(); // Also after a refusal: what was posted before it stays posted.
      lock.unlock();
    }
  }

  void run(Runnable change) {
    call(
        () -> {
          change.run();
          return null;
        });
  }

  /** Carries out requests until all that are left have to wait for somebody. */
  private void settle() {
    boolean again = true;
    while (again) {
      again = false;
      for (LoopQp each : List.copyOf(busy)) {
        again |= each.advance();
      }
    }
  }

  /** The queue pair has requests now, or none. Under the lock; so is all that follows. */
  void busy(LoopQp qp, boolean hasRequests) {
    if (hasRequests) {
      busy.add(qp);
    } else {
      busy.remove(qp);
    }
  }

  void attach(Gid gid, LoopDevice device) {
    if (addresses.putIfAbsent(gid, device) != null) {
      throw new VerbsException(Errno.EADDRINUSE, gid + " is an address of another device");
    }
  }

  void detach(Gid gid, LoopDevice device) {
    addresses.remove(gid, device);
  }

  /** The device of an address, or null. */
  LoopDevice at(Gid gid) {
    return addresses.get(gid);
  }
}
