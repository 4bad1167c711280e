package org.rdma4j.rdma.cm.internal.cma;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaRoute;
import org.rdma4j.roce.address.Gid;

/**
 * Where an identifier is: its addresses, the device that has the local one, and the way to the remote one (kernel:
 * {@code struct rdma_addr} and {@code cma_acquire_dev}). Changed under the identifier's lock, read by anybody.
 */
final class Place {
  private static final int FULL_PKEY = 0xffff;
  private static final int FLOW_LABEL = 0xfffff;
  private static final int FLOW_FACTOR = 31;
  private static final int HOP_LIMIT = 64;

  private final Id id;
  private final Owner owner;
  private final Cma cma;
  private volatile InetSocketAddress local = new InetSocketAddress(0);
  private volatile InetSocketAddress remote;
  private volatile CmaDevice device;
  private volatile GidEntry gid;
  private volatile Context verbs;
  private volatile RdmaRoute route;
  private boolean hasPort;
  private boolean self;
  private boolean addressLost;

  Place(Id id, Owner owner) {
    this.id = id;
    this.owner = owner;
    this.cma = owner.cma();
  }

  InetSocketAddress local() {
    return local;
  }

  InetSocketAddress remote() {
    return remote;
  }

  CmaDevice device() {
    return device;
  }

  GidEntry gid() {
    return gid;
  }

  Context verbs() {
    return verbs;
  }

  RdmaRoute route() {
    return route;
  }

  int port() {
    GidEntry entry = gid;
    return entry == null ? 0 : entry.port();
  }

  /** Both ends and the device, in words. */
  String between() {
    CmaDevice where = device;
    InetSocketAddress peer = remote;
    return "%s %s%s%s"
        .formatted(
            id.portSpace(),
            text(local),
            peer == null ? "" : " with " + text(peer),
            where == null ? "" : " over " + where.name() + "/" + port());
  }

  static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /** Refuses what is no address, or not a whole one. */
  static void check(String what, InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new VerbsException(
          Errno.EINVAL, "%s: %s is a name, an address is needed".formatted(what, address.getHostString()));
    }
    if (address.getAddress() instanceof Inet6Address v6
        && v6.isLinkLocalAddress()
        && v6.getScopedInterface() == null
        && v6.getScopeId() == 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s: link-local address %s needs a scope, such as %%eth0".formatted(what, v6.getHostAddress()));
    }
  }

  /** Takes a local address and a port; where it cannot, nothing has changed. */
  void bind(InetSocketAddress address) {
    InetAddress host = address.getAddress();
    Resolver.Found found = null;
    if (!host.isAnyLocalAddress()) {
      found = Resolver.at(cma.devices(host), host);
      if (found == null && !host.isLoopbackAddress()) {
        throw new VerbsException(
            Errno.ENODEV,
            "bind: no device has the address %s; devices are %s".formatted(host.getHostAddress(), cma.devices()));
      }
    }
    InetSocketAddress before = local;
    boolean done = false;
    try {
      if (found != null) {
        use(found.device(), found.gid());
      }
      local = address;
      local = new InetSocketAddress(host, cma.bind(id, address.getPort()));
      hasPort = true;
      done = true;
    } finally {
      if (!done) {
        local = before;
        leave(forgetDevice());
      }
    }
  }

  /** Finds device and local address for a destination; where it cannot, nothing has changed. */
  void resolve(InetSocketAddress destination) {
    InetAddress host = destination.getAddress();
    Resolver.Found found = Resolver.find(cma, local.getAddress(), host);
    if (device == null) {
      use(found.device(), found.gid());
    }
    local = new InetSocketAddress(found.local(), local.getPort());
    self = found.self();
    remote = new InetSocketAddress(host.isAnyLocalAddress() ? Resolver.loopback(host) : host, destination.getPort());
  }

  /** Makes the way to the remote address (kernel: {@code cma_resolve_iboe_route}). */
  void findRoute(Options options) {
    int label = local.getPort() * FLOW_FACTOR + remote.getPort() & FLOW_LABEL;
    route =
        new RdmaRoute(
            gid.gid(),
            self ? gid.gid() : Gid.of(remote.getAddress()),
            FULL_PKEY,
            device.device.port(gid.port()).activeMtu(),
            0,
            options.packetLifeTime(),
            options.typeOfService(),
            label,
            HOP_LIMIT,
            0);
  }

  void packetLifeTime(int exponent) {
    if (route != null) {
      route = Routes.withLifeTime(route, exponent);
    }
  }

  /** Is where a request came to. */
  void begin(
      CmaDevice where, GidEntry entry, InetSocketAddress here, InetSocketAddress peer, RdmaRoute way) {
    local = here;
    remote = peer;
    use(where, entry);
    route = way;
  }

  /** From now on the identifier has a device. */
  private void use(CmaDevice found, GidEntry entry) {
    cma.attach(id, found);
    boolean done = false;
    try {
      verbs = owner.acquire(found);
      device = found;
      gid = entry;
      done = true;
    } finally {
      if (!done) {
        cma.detach(id, found);
      }
    }
  }

  /** The identifier has no device any more; which it was, or null. */
  CmaDevice forgetDevice() {
    CmaDevice left = device;
    device = null;
    gid = null;
    verbs = null;
    return left;
  }

  /** Gives a device back, which its owner may close then; without the identifier's lock where somebody may hear it. */
  void leave(CmaDevice left) {
    if (left != null) {
      cma.detach(id, left);
      owner.release(left);
    }
  }

  void releasePort() {
    if (hasPort) {
      hasPort = false;
      cma.release(id, local.getPort());
    }
  }

  /** The table of addresses is another: in words what became of the local one, null where it is as it was or known. */
  String addressChange() {
    if (device == null || addressLost) {
      return null;
    }
    GidEntry now = device.find(gid.gid(), gid.netdev());
    if (gid.equals(now)) {
      return null;
    }
    addressLost = true;
    String where = now == null ? "is no address of the device any more" : "has moved to slot " + now.index();
    return "%s: %s %s".formatted(between(), gid.gid(), where);
  }
}
