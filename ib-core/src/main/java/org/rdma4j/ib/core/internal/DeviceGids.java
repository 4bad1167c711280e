package org.rdma4j.ib.core.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.NetdevEvent;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The GIDs of one device. The lock keeps calls to the provider from overlapping; it is the device's own, and stopping
 * waits for it within bounds only.
 */
final class DeviceGids {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceGids.class);
  private static final long STOP_SECONDS = 5;

  private final DeviceControl control;
  private final ReentrantLock calls = new ReentrantLock();
  private final Map<Integer, NetdevSnapshot> last = new HashMap<>();
  private final Set<String> reported = new HashSet<>();
  private volatile boolean stopped;

  DeviceGids(DeviceControl control) {
    this.control = control;
  }

  /** Brings all ports in step. */
  void apply(Map<String, NetdevSnapshot> netdevs) {
    calls.lock();
    try {
      for (int port = 1; port <= control.portCount() && !stopped; port++) {
        applyPort(port, netdevs);
      }
    } catch (VerbsException e) {
      LOG.warn("the addresses of {} cannot be brought in step", control.name(), e);
    } finally {
      calls.unlock();
    }
  }

  /** No call to the provider begins any more; waits for one that runs. */
  void stop() {
    stopped = true;
    try {
      if (calls.tryLock(STOP_SECONDS, TimeUnit.SECONDS)) {
        calls.unlock();
      } else {
        LOG.warn("the provider of {} does not return from a change of its addresses", control.name());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void applyPort(int port, Map<String, NetdevSnapshot> netdevs) {
    String name = control.netdev(port);
    if (name == null) {
      return;
    }
    NetdevSnapshot now = netdevs.get(name);
    NetdevSnapshot before = now == null ? last.remove(port) : last.put(port, now);
    for (GidType type : control.gidTypes(port)) {
      applyGids(port, type, name, now);
    }
    for (NetdevEvent event : events(before, now)) {
      control.netdevEvent(port, event, (now == null ? before : now).netdev());
    }
  }

  private void applyGids(int port, GidType type, String netdev, NetdevSnapshot now) {
    Gid only = control.addressFilter(port);
    Gid defaultGid = now == null || only != null ? null : now.defaultGid();
    Set<Gid> wanted = wanted(now, only);
    for (GidEntry entry : control.gidEntries(port)) {
      boolean isDefault = control.isDefault(entry);
      boolean keep = wanted.contains(entry.gid()) && isDefault == entry.gid().equals(defaultGid);
      if (entry.type() == type && !(keep && netdev.equals(entry.netdev()))) {
        control.removeGid(port, entry.gid(), type, entry.netdev(), isDefault);
      }
    }
    for (Gid gid : wanted) {
      add(port, type, netdev, gid, gid.equals(defaultGid));
    }
  }

  private void add(int port, GidType type, String netdev, Gid gid, boolean isDefault) {
    String key = port + " " + gid;
    try {
      control.addGid(port, gid, type, netdev, isDefault);
      reported.remove(key);
    } catch (VerbsException e) {
      if (reported.add(key)) {
        // An IPv6 address is not available before its duplicate detection has ended; then it is tried again.
        Level level = e.errno() == Errno.EADDRNOTAVAIL ? Level.INFO : Level.WARN;
        LOG.atLevel(level).log("GID {} of {}/{} cannot be used: {}", gid, control.name(), port, e.toString());
      }
    }
  }

  /** The GIDs a port shall have, the default one first, then IPv4, then IPv6. */
  private static Set<Gid> wanted(NetdevSnapshot now, Gid only) {
    Set<Gid> wanted = new LinkedHashSet<>();
    if (now == null) {
      return wanted;
    }
    if (only != null) {
      if (now.owns(only)) {
        wanted.add(only);
      }
      return wanted;
    }
    now.addresses().stream()
        .map(Gid::of)
        .filter(gid -> !gid.isZero() && !gid.isMulticast())
        .sorted(
            Comparator.comparing((Gid gid) -> !gid.equals(now.defaultGid()))
                .thenComparing(gid -> !gid.isIpv4Mapped()))
        .forEach(wanted::add);
    return wanted;
  }

  private static List<NetdevEvent> events(NetdevSnapshot before, NetdevSnapshot now) {
    List<NetdevEvent> events = new ArrayList<>();
    if (before == null || now == null) {
      if (before != null) {
        events.add(NetdevEvent.UNREGISTER);
      }
      return events;
    }
    if (before.netdev().mtu() != now.netdev().mtu()) {
      events.add(NetdevEvent.CHANGE_MTU);
    }
    if (!Objects.equals(before.netdev().mac(), now.netdev().mac())) {
      events.add(NetdevEvent.CHANGE_ADDRESS);
    }
    if (before.netdev().up() != now.netdev().up()) {
      events.add(now.netdev().up() ? NetdevEvent.UP : NetdevEvent.DOWN);
    }
    return events;
  }
}
