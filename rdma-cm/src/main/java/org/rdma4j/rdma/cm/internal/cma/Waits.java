package org.rdma4j.rdma.cm.internal.cma;

import java.time.Duration;
import java.util.List;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;

/** Calls of a synchronous identifier wait for what they have begun (librdmacm: {@code ucma_complete}). */
final class Waits {
  private final Id id;
  private volatile RdmaCmEvent last;

  Waits(Id id) {
    this.id = id;
  }

  RdmaCmEvent last() {
    return last;
  }

  /** Waits for one of some events; does nothing for an identifier with a channel. */
  void complete(RdmaCmEventType... wanted) {
    if (!id.isSynchronous()) {
      return;
    }
    while (true) {
      RdmaCmEvent event = id.events().getEvent(null);
      last = event;
      if (List.of(wanted).contains(event.type()) && event.status() == 0) {
        return;
      }
      if (isFailure(event)) {
        throw new VerbsException(errno(event), event.toString());
      }
    }
  }

  /** Waits for a request; null when the time is over. */
  Id request(Duration timeout) {
    if (!id.isSynchronous()) {
      throw new VerbsException(
          Errno.EINVAL, "get request: " + id + " has an event channel, which its requests come through");
    }
    long end = timeout == null ? 0 : System.nanoTime() + timeout.toNanos();
    while (true) {
      Duration left = timeout == null ? null : Duration.ofNanos(Math.max(0, end - System.nanoTime()));
      RdmaCmEvent event = id.events().getEvent(left);
      if (event == null) {
        return null;
      }
      last = event;
      if (event.type() == RdmaCmEventType.CONNECT_REQUEST) {
        Id made = (Id) event.id();
        made.waits(event);
        return made;
      }
      if (isFailure(event)) {
        throw new VerbsException(errno(event), event.toString());
      }
    }
  }

  void last(RdmaCmEvent event) {
    last = event;
  }

  private static boolean isFailure(RdmaCmEvent event) {
    return switch (event.type()) {
      case TIMEWAIT_EXIT, ADDR_CHANGE, CONNECT_REQUEST -> false;
      default -> true;
    };
  }

  private static Errno errno(RdmaCmEvent event) {
    if (event.type() == RdmaCmEventType.DEVICE_REMOVAL) {
      return Errno.ENODEV;
    }
    if (event.status() > 0) {
      return Errno.ECONNREFUSED;
    }
    return event.errno().orElse(Errno.EIO);
  }
}
