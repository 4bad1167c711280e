package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.rdma.cm.ib.CmPort;
import org.rdma4j.roce.address.Gid;

/** A device and who uses it (kernel: {@code struct cma_device}). All but the first two are guarded by {@link Cma}. */
final class CmaDevice {
  /** Somebody listens for a service; all identifiers that do share it. */
  static final class Listener {
    final CmId cm;
    final Set<Id> users = new HashSet<>();

    Listener(CmId cm) {
      this.cm = cm;
    }
  }

  final RdmaDevice device;
  private final SortedMap<Integer, CmPort> ports;

  final Set<Id> ids = new HashSet<>();
  final Map<Long, Listener> listeners = new HashMap<>(); // by service id
  boolean gone;

  CmaDevice(RdmaDevice device, Map<Integer, CmPort> ports) {
    this.device = device;
    this.ports = new TreeMap<>(ports);
  }

  String name() {
    return device.name();
  }

  /** The device's own numbers of its ports, that are able to make connections. */
  Set<Integer> ports() {
    return ports.keySet();
  }

  CmPort port(int number) {
    return ports.get(number);
  }

  CmPort firstPort() {
    return ports.get(ports.firstKey());
  }

  /** The slot of a local address, RoCE v2 first; null where no port has the address. */
  GidEntry find(InetAddress address) {
    Gid gid = Gid.of(address);
    String netdev = address instanceof Inet6Address scoped && address.isLinkLocalAddress() ? scope(scoped) : null;
    return find(gid, netdev);
  }

  GidEntry find(Gid gid, String netdev) {
    GidEntry found = null;
    for (int port : ports.keySet()) {
      for (GidEntry each : device.gidTable(port).entries()) {
        if (each.gid().equals(gid)
            && (netdev == null || each.netdev() == null || netdev.equals(each.netdev()))
            && (found == null || found.type() != GidType.ROCE_V2 && each.type() == GidType.ROCE_V2)) {
          found = each;
        }
      }
    }
    return found;
  }

  private static String scope(Inet6Address address) {
    NetworkInterface scoped = address.getScopedInterface();
    return scoped == null ? null : scoped.getName();
  }

  @Override
  public String toString() {
    return name();
  }
}
