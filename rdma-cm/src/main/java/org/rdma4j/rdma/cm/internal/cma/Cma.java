package org.rdma4j.rdma.cm.internal.cma;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.ib.CmEvent;
import org.rdma4j.rdma.cm.ib.CmHandler;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.rdma.cm.ib.IbCm;
import org.rdma4j.rdma.cm.internal.device.CmDevice;
import org.rdma4j.rdma.cm.internal.device.CmDevices;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection management by IP address: devices, ports, listeners and identifiers of all owners (kernel: cma.c). Locks
 * are taken in this order: one identifier's, this object's, that of the IB connection manager. Events come from the
 * latter's thread, without its lock.
 */
public final class Cma implements CmDevices.Follower {
  private static final Logger LOG = LoggerFactory.getLogger(Cma.class);

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOOK_MILLIS = 100;

  private final IbCm manager;
  private final Supplier<Collection<RdmaDevice>> published;
  private final Map<Object, CmaDevice> devices = new LinkedHashMap<>(); // by CmPort.device(); guarded by this, as are
  private final PortTable<Id> ports;
  private final Set<Id> everywhere = new LinkedHashSet<>(); // those that listen on all devices
  private final SortedMap<Integer, Id> ids = new TreeMap<>();
  private int nextNumber;

  private final Map<CmId, Id> connections = new ConcurrentHashMap<>();

  /**
   * Makes one without devices.
   *
   * @param manager the IB connection manager
   * @param published the devices that everybody sees
   */
  public Cma(IbCm manager, Supplier<Collection<RdmaDevice>> published) {
    this(manager, published, LocalPorts.ofSystem());
  }

  Cma(IbCm manager, Supplier<Collection<RdmaDevice>> published, LocalPorts local) {
    this.manager = manager;
    this.published = published;
    this.ports = new PortTable<>(local, ThreadLocalRandom.current());
  }

  IbCm manager() {
    return manager;
  }

  @Override
  public void added(CmDevice device) {
    Map<Integer, org.rdma4j.rdma.cm.ib.CmPort> able = new TreeMap<>();
    for (int number = 1; number <= device.device().portCount(); number++) {
      int port = number;
      device.port(number).ifPresent(found -> able.put(port, found));
    }
    add(new CmaDevice(device.device(), able));
  }

  @Override
  public void removing(CmDevice device) {
    remove(device.ports().getFirst().device());
  }

  /** A device is there; whoever listens everywhere listens on it, too. */
  void add(CmaDevice device) {
    synchronized (this) {
      devices.put(device.firstPort().device(), device);
      notifyAll();
      for (Id id : everywhere) {
        try {
          share(device, id);
        } catch (VerbsException e) {
          LOG.warn("{} does not listen on {}: {}", id, device, e.toString());
        }
      }
    }
  }

  /** A device goes; all identifiers that have it hear of it, and nothing of it is left to them. */
  void remove(Object identity) {
    CmaDevice device;
    List<Id> users;
    List<CmId> listeners = new ArrayList<>();
    synchronized (this) {
      device = devices.remove(identity);
      if (device == null) {
        return;
      }
      device.gone = true;
      users = List.copyOf(device.ids);
      device.listeners.values().forEach(each -> listeners.add(each.cm));
      device.listeners.clear();
    }
    listeners.forEach(CmId::destroy);
    for (Id id : users) {
      try {
        id.deviceGoes();
      } catch (RuntimeException e) {
        LOG.error("{} has not left {} in order", id, device, e);
      }
    }
  }

  /** The devices now, in the order in which they came. */
  synchronized Collection<CmaDevice> devices() {
    return List.copyOf(devices.values());
  }

  /**
   * The devices, with the one that has an address, if there is one: a device is published a moment before its clients
   * hear of it, and whoever saw it may ask for its address at once.
   */
  Collection<CmaDevice> devices(InetAddress wanted) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    Collection<CmaDevice> known = devices();
    while (known.stream().noneMatch(each -> each.find(wanted) != null)
        && isComing(wanted)
        && System.nanoTime() - end < 0
        && !interrupted) {
      try {
        synchronized (this) {
          if (devices.size() == known.size()) {
            wait(LOOK_MILLIS);
          }
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
      known = devices();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return known;
  }

  private boolean isComing(InetAddress wanted) {
    Gid gid = Gid.of(wanted);
    return published.get().stream().anyMatch(device -> isComing(device, gid));
  }

  private boolean isComing(RdmaDevice device, Gid gid) {
    try {
      for (int port = 1; port <= device.portCount(); port++) {
        if (device.gidTable(port).find(gid) != null
            && device.portImmutable(port).capabilities().contains(PortCoreCapability.IB_CM)) {
          return true;
        }
      }
    } catch (VerbsException e) {
      LOG.trace("{} goes", device.name(), e);
    }
    return false;
  }

  synchronized CmaDevice device(Object identity) {
    return devices.get(identity);
  }

  /** Notes that an identifier has a device. */
  synchronized void attach(Id id, CmaDevice device) {
    if (device.gone) {
      throw new VerbsException(Errno.ENODEV, device + " was removed");
    }
    device.ids.add(id);
  }

  synchronized void detach(Id id, CmaDevice device) {
    device.ids.remove(id);
  }

  synchronized int number(Id id) {
    while (ids.containsKey(nextNumber)) {
      nextNumber = nextNumber + 1 & Integer.MAX_VALUE;
    }
    int number = nextNumber;
    nextNumber = nextNumber + 1 & Integer.MAX_VALUE;
    ids.put(number, id);
    return number;
  }

  synchronized void forget(Id id) {
    ids.remove(id.number());
  }

  synchronized int bind(Id id, int port) {
    return ports.bind(id, id.portSpace(), port);
  }

  synchronized void release(Id id, int port) {
    ports.release(id, id.portSpace(), port);
  }

  /** Begins to listen, on one device or, with null, on all that there are and will be. */
  synchronized void listen(Id id, CmaDevice only, int port) {
    ports.checkListen(id, id.portSpace(), port);
    if (only != null) {
      if (only.gone) {
        throw new VerbsException(Errno.ENODEV, only + " was removed");
      }
      share(only, id);
      return;
    }
    List<CmaDevice> done = new ArrayList<>();
    try {
      for (CmaDevice each : devices.values()) {
        share(each, id);
        done.add(each);
      }
      everywhere.add(id);
    } finally {
      if (!everywhere.contains(id)) {
        done.forEach(each -> unshare(each, id));
      }
    }
  }

  synchronized void unlisten(Id id, CmaDevice only) {
    if (only != null) {
      unshare(only, id);
    } else if (everywhere.remove(id)) {
      devices.values().forEach(each -> unshare(each, id));
    }
  }

  private void share(CmaDevice device, Id id) {
    long serviceId = id.serviceId();
    CmaDevice.Listener listener = device.listeners.get(serviceId);
    if (listener == null) {
      CmId cm = manager.create(device.firstPort(), this::onEvent);
      boolean listens = false;
      try {
        cm.listen(serviceId);
        listens = true;
      } finally {
        if (!listens) {
          cm.destroy();
        }
      }
      listener = new CmaDevice.Listener(cm);
      device.listeners.put(serviceId, listener);
    }
    listener.users.add(id);
  }

  private void unshare(CmaDevice device, Id id) {
    long serviceId = id.serviceId();
    CmaDevice.Listener listener = device.listeners.get(serviceId);
    if (listener != null && listener.users.remove(id) && listener.users.isEmpty()) {
      device.listeners.remove(serviceId);
      listener.cm.destroy(); // nothing is delivered to one that listens, so this does not wait
    }
  }

  /** Who listens where a request came to. */
  synchronized Id listener(PortSpace space, int port, CmaDevice device, CmaHeader header) {
    for (Id id : ports.at(space, port)) {
      if (id.listening().isFor(device, header.destination())) {
        return id;
      }
    }
    return null;
  }

  /** Makes a connection or a question of an identifier, whose events come here. */
  CmId connect(Id id, CmaDevice device, int port) {
    CmId cm = manager.create(device.port(port), this::onEvent);
    connections.put(cm, id);
    return cm;
  }

  void adopt(CmId cm, Id id) {
    connections.put(cm, id);
  }

  void forget(CmId cm) {
    connections.remove(cm);
  }

  private CmHandler.Verdict onEvent(CmId cm, CmEvent event) {
    Id id = connections.get(cm);
    if (id != null) {
      return id.onEvent(cm, event);
    }
    return switch (event) {
      case CmEvent.ReqReceived request -> Requests.connection(this, cm, request);
      case CmEvent.SidrReqReceived request -> Requests.datagram(this, cm, request);
      default -> CmHandler.Verdict.KEEP;
    };
  }

  /** All identifiers, with a line for each device that one listens on. */
  List<CmIdResource> resources() {
    List<Id> all;
    Collection<CmaDevice> present;
    synchronized (this) {
      all = List.copyOf(ids.values());
      present = List.copyOf(devices.values());
    }
    List<CmIdResource> found = new ArrayList<>();
    all.forEach(id -> id.describe(found, present));
    return found;
  }

  /** Whether nothing is left: no identifier, port, listener or connection. */
  synchronized boolean isEmpty() {
    return ids.isEmpty()
        && connections.isEmpty()
        && everywhere.isEmpty()
        && ports.isEmpty()
        && devices.values().stream().allMatch(each -> each.ids.isEmpty() && each.listeners.isEmpty());
  }
}
