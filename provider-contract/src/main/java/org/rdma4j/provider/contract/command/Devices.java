package org.rdma4j.provider.contract.command;

import java.util.List;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.provider.contract.Plug;

/** The devices of the container, as they are now. */
final class Devices implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 60_000;
  private static final long LOOK_MILLIS = 1_000;

  private final BundleContext bundle;
  private final ServiceTracker<RdmaDevice, RdmaDevice> tracker;
  private final Object changed = new Object();

  Devices(BundleContext bundle) {
    this.bundle = bundle;
    this.tracker =
        new ServiceTracker<>(bundle, RdmaDevice.class, null) {
          @Override
          public RdmaDevice addingService(ServiceReference<RdmaDevice> reference) {
            RdmaDevice device = super.addingService(reference);
            tell();
            return device;
          }

          @Override
          public void removedService(ServiceReference<RdmaDevice> reference, RdmaDevice device) {
            super.removedService(reference, device);
            tell();
          }
        };
    tracker.open();
  }

  private void tell() {
    synchronized (changed) {
      changed.notifyAll();
    }
  }

  /** The device of a name, or null. */
  RdmaDevice find(String name) {
    return tracker.getTracked().values().stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
  }

  RdmaDevice get(String name) {
    RdmaDevice device = find(name);
    if (device == null) {
      throw new VerbsException(Errno.ENODEV, "there is no device " + name);
    }
    return device;
  }

  /** The bundle that has registered a device with the core, or null. */
  Bundle provider(String name) {
    try {
      for (ServiceReference<IbDevice> each : bundle.getServiceReferences(IbDevice.class, null)) {
        IbDevice found = bundle.getService(each);
        try {
          if (found != null && found.name().equals(name)) {
            return each.getBundle();
          }
        } finally {
          bundle.ungetService(each);
        }
      }
      return null;
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until a device is there, or gone. */
  void await(String name, boolean there) throws InterruptedException {
    long waited = 0;
    synchronized (changed) {
      while ((find(name) != null) != there) {
        if (waited >= PATIENCE_MILLIS) {
          throw new VerbsException(Errno.ETIMEDOUT, name + (there ? " does not come back" : " does not go"));
        }
        changed.wait(LOOK_MILLIS);
        waited += LOOK_MILLIS;
      }
    }
  }

  void awaitAll(List<String> names) throws InterruptedException {
    for (String each : names) {
      await(each, true);
    }
  }

  @Override
  public void close() {
    tracker.close();
  }

  /** How the command takes a device out; the other one may go with it. */
  abstract static class Unplugging implements Plug {
    private final Devices devices;
    private final List<String> names;

    Unplugging(Devices devices, List<String> names) {
      this.devices = devices;
      this.names = names;
    }

    abstract void out() throws Exception;

    abstract void in() throws Exception;

    @Override
    public final void takeOut() throws Exception {
      out();
      devices.await(names.getFirst(), false);
    }

    @Override
    public final void putBack() throws Exception {
      in();
      devices.awaitAll(names);
    }
  }
}
