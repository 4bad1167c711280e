package org.rdma4j.ib.core.internal;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All devices and all clients ({@code device.c}). A device and a client that come at the same time find each other
 * exactly once: each is listed before it looks at the other list. No foreign code runs under the lock. Safe for any
 * thread.
 */
final class DeviceRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceRegistry.class);

  private final Publisher publisher;
  private final GidManager gids;
  private final DeviceNames names = new DeviceNames();
  private final List<RegisteredDevice> devices = new CopyOnWriteArrayList<>();
  private final Set<IbDevice> withdrawn = Collections.newSetFromMap(new WeakHashMap<>()); // guarded by devices
  private final List<ClientEntry> clients = new ArrayList<>(); // in order; guarded by itself
  private volatile Settings settings = Settings.DEFAULT;
  private volatile VerbsTracer tracer;

  DeviceRegistry(Publisher publisher, GidManager gids) {
    this.publisher = publisher;
    this.gids = gids;
  }

  void configure(Settings newSettings) {
    this.settings = newSettings;
    synchronized (devices) {
      devices.forEach(each -> each.control().noteCreationSites(newSettings.creationSites()));
    }
  }

  /**
   * Registers a device and tells all clients; does nothing for a device that was unregistered before.
   *
   * @throws VerbsException why it cannot be registered; the same is recorded in the device
   */
  void register(IbDevice provider) {
    RegisteredDevice device = enter(provider);
    if (device == null) {
      LOG.debug("device {} went before it came", provider.requestedName());
      return;
    }
    try {
      device.comeUp();
    } catch (VerbsException e) {
      devices.remove(device);
      names.free(device.assigned());
      device.control().fail(e);
      throw e;
    }
    LOG.info("device {} is there", device.name());
    try {
      device.announce(publisher, this::clients);
    } catch (VerbsException | IllegalStateException e) {
      VerbsException reason =
          e instanceof VerbsException verbs ? verbs : new VerbsException(Errno.EIO, "cannot be published: " + e, e);
      device.control().fail(reason);
      remove(device);
      throw reason;
    }
  }

  /** Lets somebody see the verbs of all devices, or nobody with null. */
  void trace(VerbsTracer who) {
    synchronized (devices) {
      tracer = who;
      devices.forEach(each -> each.control().trace(who));
    }
  }

  /** Lists the device under its name, so that whoever wants to remove it finds it; null where that came first. */
  private RegisteredDevice enter(IbDevice provider) {
    synchronized (devices) {
      if (withdrawn.remove(provider)) {
        return null;
      }
      DeviceControl control = provider.bind();
      try {
        DeviceNames.Assigned assigned = names.assign(provider.requestedName());
        RegisteredDevice device = new RegisteredDevice(provider, control, assigned, () -> settings, gids);
        devices.add(device);
        control.trace(tracer);
        return device;
      } catch (VerbsException e) {
        control.fail(e);
        throw e;
      }
    }
  }

  /** Removes a device; returns when its provider is released. A device that never came is refused from now on. */
  void unregister(IbDevice provider) {
    RegisteredDevice device;
    synchronized (devices) {
      device = devices.stream().filter(each -> each.provider() == provider).findFirst().orElse(null);
      if (device == null) {
        try {
          provider.bind();
          withdrawn.add(provider);
        } catch (VerbsException e) {
          LOG.debug("device {} has gone or failed before", provider.requestedName(), e);
        }
      }
    }
    if (device != null) {
      remove(device);
    }
  }

  private void remove(RegisteredDevice device) {
    device.remove();
    devices.remove(device);
    names.free(device.assigned());
  }

  void addClient(ClientEntry client) {
    synchronized (clients) {
      if (client.isGone()) {
        return;
      }
      clients.add(client);
      clients.sort(null);
    }
    devices.forEach(device -> device.clients().add(client));
  }

  /** Takes a client away from all devices; returns when its calls are over. */
  void removeClient(ClientEntry client) {
    synchronized (clients) {
      client.go();
      clients.remove(client);
    }
    for (RegisteredDevice device : devices.reversed()) {
      device.clients().remove(client);
    }
  }

  /** Removes all devices, the last registered first. */
  void close() {
    List<RegisteredDevice> left = new ArrayList<>(devices);
    left.reversed().forEach(this::remove);
  }

  List<RegisteredDevice> devices() {
    return List.copyOf(devices);
  }

  private List<ClientEntry> clients() {
    synchronized (clients) {
      return List.copyOf(clients);
    }
  }
}
