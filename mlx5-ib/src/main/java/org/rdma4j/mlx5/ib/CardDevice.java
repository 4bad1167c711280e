package org.rdma4j.mlx5.ib;

import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device of one card in the service registry, from {@link #start} to {@link #close}. A device instance serves once:
 * when the core that had it stops, a new instance waits for the next core. No service is registered or unregistered
 * under the lock.
 */
final class CardDevice {
  private static final Logger LOG = LoggerFactory.getLogger(CardDevice.class);

  private final BundleContext bundle;
  private final Mlx5Device core;
  private ConnectxDevice device; // this and the following: guarded by this
  private ServiceRegistration<IbDevice> service;
  private Thread renewal;
  private boolean closed;

  CardDevice(BundleContext bundle, Mlx5Device core) {
    this.bundle = bundle;
    this.core = core;
  }

  /** Makes and registers the device; what fails is logged. */
  void start() {
    ConnectxDevice made;
    try {
      made = new ConnectxDevice(core, this::released);
    } catch (Mlx5Exception | VerbsException e) {
      LOG.error("{}: no device for RDMA: {}", core.name(), e.getMessage());
      return;
    }
    ServiceRegistration<IbDevice> registered = null;
    boolean kept = false;
    try {
      registered = bundle.registerService(IbDevice.class, made, null);
      VerbsException failure = made.registrationFailure();
      if (failure == null) {
        kept = keep(made, registered);
        if (kept) {
          made.registered();
        }
      } else {
        LOG.error("{}: no device for RDMA: {}", core.name(), failure.getMessage());
      }
    } catch (IllegalStateException e) {
      LOG.debug("{}: the provider stops", core.name(), e);
    } finally {
      if (!kept) {
        undo(made, registered);
      }
    }
  }

  private synchronized boolean keep(ConnectxDevice made, ServiceRegistration<IbDevice> registered) {
    if (!closed) {
      device = made;
      service = registered;
    }
    return !closed;
  }

  private static void undo(ConnectxDevice made, ServiceRegistration<IbDevice> registered) {
    if (registered != null) {
      try {
        registered.unregister();
      } catch (IllegalStateException e) {
        LOG.debug("{} was unregistered with its bundle", made.name(), e);
      }
    }
    made.release();
  }

  /** The core has let the device go: because it was taken back, or because the core stops. */
  private void released(ConnectxDevice which) {
    Thread thread = Thread.ofVirtual().name("mlx5-ib renews " + core.name()).unstarted(() -> renew(which));
    synchronized (this) {
      if (closed || device != which) {
        return;
      }
      renewal = thread;
    }
    thread.start();
  }

  private void renew(ConnectxDevice which) {
    ServiceRegistration<IbDevice> registered;
    synchronized (this) {
      if (closed || device != which) {
        return;
      }
      registered = service;
      device = null;
      service = null;
    }
    undo(which, registered);
    start();
  }

  /** Removes the device; returns when it is gone. */
  void close() {
    ConnectxDevice which;
    ServiceRegistration<IbDevice> registered;
    Thread renewing;
    synchronized (this) {
      closed = true;
      which = device;
      registered = service;
      device = null;
      service = null;
      renewing = renewal;
    }
    if (which != null) {
      undo(which, registered);
    }
    if (renewing != null) {
      try {
        renewing.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
