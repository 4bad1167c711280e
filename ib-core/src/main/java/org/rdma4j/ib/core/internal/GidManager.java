package org.rdma4j.ib.core.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.DeviceControl;

/**
 * Keeps the GID tables of all RoCE ports in step with their interfaces ({@code roce_gid_mgmt.c}), and tells providers
 * what happens to the interfaces. Told of changes by {@link #rescan()}.
 */
final class GidManager {
  private final Supplier<Map<String, NetdevSnapshot>> netdevs;
  private final Map<DeviceControl, DeviceGids> attached = new ConcurrentHashMap<>();

  /**
   * Makes a manager.
   *
   * @param netdevs reads the interfaces by name
   */
  GidManager(Supplier<Map<String, NetdevSnapshot>> netdevs) {
    this.netdevs = netdevs;
  }

  /** Fills the tables of a device and keeps them in step from now on. */
  void attach(DeviceControl control) {
    DeviceGids gids = new DeviceGids(control);
    attached.put(control, gids);
    gids.apply(netdevs.get());
  }

  /** Leaves the tables as they are; when this returns the manager is out of the device. */
  void detach(DeviceControl control) {
    DeviceGids gids = attached.remove(control);
    if (gids != null) {
      gids.stop();
    }
  }

  /** Something changed: looks at all interfaces of attached devices. */
  void rescan() {
    if (!attached.isEmpty()) {
      Map<String, NetdevSnapshot> now = netdevs.get();
      attached.values().forEach(each -> each.apply(now));
    }
  }
}
