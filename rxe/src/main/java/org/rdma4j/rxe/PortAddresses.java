package org.rdma4j.rxe;

import java.util.HashMap;
import java.util.Map;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.Route;

/**
 * The addresses a port receives on. Addresses taken before registration, so that a port that is not free is found out
 * then, are taken over by the GID of the same address when it comes. Changes run on the engine's thread.
 */
final class PortAddresses {
  private final Engine engine;
  private final Map<Gid, Integer> uses = new HashMap<>(); // engine thread

  PortAddresses(Engine engine) {
    this.engine = engine;
  }

  /** Starts to receive on an address without a GID yet. */
  void reserve(Gid gid) {
    control(
        () -> {
          engine.link().addAddress(gid);
          uses.put(gid, 0);
        });
  }

  /** A GID uses an address; one address may have several GIDs. */
  void add(Gid gid) {
    control(
        () -> {
          if (!uses.containsKey(gid)) {
            engine.link().addAddress(gid);
          }
          uses.merge(gid, 1, Integer::sum);
        });
  }

  /** A GID has gone. */
  void remove(Gid gid) {
    control(
        () -> {
          int left = uses.getOrDefault(gid, 0) - 1;
          if (left > 0) {
            uses.put(gid, left);
          } else if (uses.remove(gid) != null) {
            engine.link().removeAddress(gid);
          }
        });
  }

  /** The way from a local address to another. Engine thread. */
  Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    try {
      return engine.link().route(source, destination, trafficClass, flowLabel, hopLimit);
    } catch (LinkException e) {
      throw translate(e);
    }
  }

  private void control(Runnable change) {
    try {
      engine.run(change);
    } catch (LinkException e) {
      throw translate(e);
    }
  }

  /** The same error as the control path of verbs reports it. */
  static VerbsException translate(LinkException e) {
    String message = e.getMessage().substring(e.errnoName().length() + ": ".length());
    for (Errno errno : Errno.values()) {
      if (errno.number() == e.errno()) {
        return new VerbsException(errno, message, e);
      }
    }
    return new VerbsException(Errno.EIO, e.getMessage(), e);
  }
}
