package org.rdma4j.rxe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * All links of the bundle: keeps names and interfaces apart, and tells who waits for a link what became of it. Safe
 * for any thread.
 */
final class RxeLinks {
  private final Map<String, RxeSettings> present = new LinkedHashMap<>();
  private final Map<String, CompletableFuture<Void>> coming = new LinkedHashMap<>();
  private final Map<String, CompletableFuture<Void>> going = new LinkedHashMap<>();

  /**
   * A link is about to be made. An interface carries several links only where each has an address of its own; the
   * kernel allows one.
   */
  synchronized void enter(String pid, RxeSettings wanted) {
    for (RxeSettings other : present.values()) {
      if (other.name().equals(wanted.name())) {
        throw new VerbsException(Errno.EEXIST, "there is a link " + wanted.name() + " already");
      }
      boolean apart =
          other.address() != null && wanted.address() != null && !Objects.equals(other.address(), wanted.address());
      if (other.netdev().equals(wanted.netdev()) && !apart) {
        throw new VerbsException(
            Errno.EEXIST,
            wanted.name() + ": " + wanted.netdev() + " carries link " + other.name() + " already; several need an addr"
                + " of their own each");
      }
    }
    present.put(pid, wanted);
  }

  /** Whether the link of a configuration is there. */
  synchronized boolean isPresent(String pid) {
    return present.containsKey(pid);
  }

  /** A link is gone, or was not made. */
  synchronized void leave(String pid) {
    present.remove(pid);
  }

  /** Whoever makes a configuration waits for this. */
  synchronized CompletableFuture<Void> expect(String pid) {
    return coming.computeIfAbsent(pid, key -> new CompletableFuture<>());
  }

  /** Whoever deletes a configuration waits for this; done at once where there is no such link. */
  synchronized CompletableFuture<Void> expectEnd(String pid) {
    return present.containsKey(pid)
        ? going.computeIfAbsent(pid, key -> new CompletableFuture<>())
        : CompletableFuture.completedFuture(null);
  }

  /** Nobody waits any more. */
  synchronized void forget(String pid) {
    coming.remove(pid);
    going.remove(pid);
  }

  void succeeded(String pid) {
    CompletableFuture<Void> waiting = take(coming, pid);
    if (waiting != null) {
      waiting.complete(null);
    }
  }

  /** There is no link; false where nobody waits for it. */
  boolean failed(String pid, VerbsException reason) {
    CompletableFuture<Void> waiting = take(coming, pid);
    return waiting != null && waiting.completeExceptionally(reason);
  }

  /** Nobody gets a link any more. */
  void failAll(VerbsException reason) {
    List<String> waiting;
    synchronized (this) {
      waiting = List.copyOf(coming.keySet());
    }
    waiting.forEach(pid -> failed(pid, reason));
  }

  void ended(String pid) {
    CompletableFuture<Void> waiting = take(going, pid);
    if (waiting != null) {
      waiting.complete(null);
    }
  }

  private synchronized CompletableFuture<Void> take(Map<String, CompletableFuture<Void>> from, String pid) {
    return from.remove(pid);
  }
}
