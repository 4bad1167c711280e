package org.rdma4j.rdma.cm.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.internal.cma.Cma;
import org.rdma4j.rdma.cm.internal.cma.Owner;
import org.rdma4j.rdma.cm.internal.device.CmDevices;

/**
 * Starts and stops the connection manager: it is there while the core is. An activator and not a component, as in the
 * providers: the framework calls it under the lock of the bundle's state.
 */
public final class RdmaCmBundle implements BundleActivator {
  private ServiceTracker<Mads, Running> cores;

  /** For the framework. */
  public RdmaCmBundle() {}

  @Override
  public void start(BundleContext bundle) {
    cores =
        new ServiceTracker<>(bundle, Mads.class, null) {
          @Override
          public Running addingService(ServiceReference<Mads> reference) {
            return new Running(context, context.getService(reference));
          }

          @Override
          public void removedService(ServiceReference<Mads> reference, Running running) {
            running.stop();
            context.ungetService(reference);
          }
        };
    cores.open();
  }

  @Override
  public void stop(BundleContext bundle) {
    cores.close();
  }

  /** The manager above one core. */
  private static final class Running implements ServiceFactory<RdmaCm> {
    private final BundleContext context;
    private final CmDevices devices;
    private final Cma cma;
    private final ServiceRegistration<DeviceClient> client;
    private final ServiceRegistration<RdmaCm> service;

    Running(BundleContext context, Mads mads) {
      this.context = context;
      this.devices = new CmDevices(mads);
      this.cma = new Cma(devices.manager(), this::published);
      devices.follow(cma);
      this.client = context.registerService(DeviceClient.class, devices, null);
      this.service = serve();
    }

    @SuppressWarnings("unchecked") // a service factory stands for the service
    private ServiceRegistration<RdmaCm> serve() {
      return (ServiceRegistration<RdmaCm>) context.registerService(RdmaCm.class.getName(), this, null);
    }

    @Override
    public RdmaCm getService(Bundle bundle, ServiceRegistration<RdmaCm> registration) {
      return new Owner(cma, bundle.getSymbolicName(), device -> view(bundle, device));
    }

    @Override
    public void ungetService(Bundle bundle, ServiceRegistration<RdmaCm> registration, RdmaCm manager) {
      ((Owner) manager).shut();
    }

    private Collection<RdmaDevice> published() {
      List<RdmaDevice> found = new ArrayList<>();
      try {
        for (ServiceReference<RdmaDevice> each : context.getServiceReferences(RdmaDevice.class, null)) {
          RdmaDevice device = context.getService(each);
          if (device != null) {
            found.add(device);
          }
        }
        return found;
      } catch (InvalidSyntaxException e) {
        throw new AssertionError("no filter is no wrong filter", e);
      }
    }

    /** The device as a bundle gets it, to which then belongs what is made there. */
    private RdmaDevice view(Bundle bundle, RdmaDevice device) {
      try {
        String filter = "(" + RdmaDevice.PROPERTY_INDEX + "=" + device.index() + ")";
        for (ServiceReference<RdmaDevice> each : context.getServiceReferences(RdmaDevice.class, filter)) {
          BundleContext theirs = bundle.getBundleContext();
          return theirs == null ? null : theirs.getService(each);
        }
        return null;
      } catch (InvalidSyntaxException e) {
        throw new AssertionError("a number makes no wrong filter", e);
      }
    }

    /** Consumers first hear that the manager goes; then the devices go, then its thread. */
    void stop() {
      service.unregister();
      client.unregister();
      devices.close();
    }
  }
}
