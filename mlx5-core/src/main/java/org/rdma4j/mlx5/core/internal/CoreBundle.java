package org.rdma4j.mlx5.core.internal;

import java.io.IOException;
import java.util.Dictionary;
import java.util.Hashtable;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedService;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.pci.PciDriver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver in its container: offers itself to the bus, and its cards to the drivers of their parts. An activator and
 * not a component: the framework calls it under the lock of the bundle's state, so that starts and stops of several
 * threads cannot overtake each other.
 */
public final class CoreBundle implements BundleActivator, AuxiliaryPublisher {
  private static final Logger LOG = LoggerFactory.getLogger(CoreBundle.class);
  private static final String PID = "org.rdma4j.mlx5.core";

  private BundleContext bundle;
  private ServiceRegistration<ManagedService> settings;
  private ServiceTracker<CommandTracer, CommandTracer> tracers;
  private ServiceRegistration<PciDriver> registration;

  /** For the framework. */
  public CoreBundle() {}

  /** The driver is registered last: it takes the cards that are there before this returns. */
  @Override
  public void start(BundleContext context) {
    bundle = context;
    CoreDriver driver = new CoreDriver(this, configured(context));
    Hashtable<String, Object> properties = new Hashtable<>();
    properties.put(Constants.SERVICE_PID, PID);
    settings =
        context.registerService(
            ManagedService.class, changed -> driver.settings(CoreSettings.of(changed)), properties);
    tracers =
        new ServiceTracker<>(context, CommandTracer.class, null) {
          @Override
          public CommandTracer addingService(ServiceReference<CommandTracer> reference) {
            CommandTracer tracer = super.addingService(reference);
            driver.trace(tracer);
            return tracer;
          }

          @Override
          public void removedService(ServiceReference<CommandTracer> reference, CommandTracer tracer) {
            driver.trace(null);
            super.removedService(reference, tracer);
          }
        };
    tracers.open();
    registration = context.registerService(PciDriver.class, driver, null);
  }

  /** What is configured by now; Configuration Admin tells it too, but some time later. */
  private static CoreSettings configured(BundleContext context) {
    ServiceReference<ConfigurationAdmin> reference = context.getServiceReference(ConfigurationAdmin.class);
    if (reference == null) {
      return CoreSettings.of(null);
    }
    try {
      Configuration[] found =
          context.getService(reference).listConfigurations("(" + Constants.SERVICE_PID + "=" + PID + ")");
      return CoreSettings.of(found == null ? null : found[0].getProperties());
    } catch (IOException | InvalidSyntaxException | IllegalStateException e) {
      LOG.debug("the settings cannot be read now: they will be told", e);
      return CoreSettings.of(null);
    } finally {
      context.ungetService(reference);
    }
  }

  /** Gives all cards back. */
  @Override
  public void stop(BundleContext context) {
    registration.unregister();
    tracers.close();
    settings.unregister();
  }

  @Override
  public Runnable publish(AuxiliaryDevice device) {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(AuxiliaryDevice.NAME, device.name());
    properties.put(AuxiliaryDevice.KIND, AuxiliaryDevice.RDMA);
    properties.put(AuxiliaryDevice.PCI_ADDRESS, device.device().name());
    ServiceRegistration<?> offer = bundle.registerService(AuxiliaryDevice.class, device, properties);
    return offer::unregister;
  }

  @Override
  public Runnable publish(Mlx5Device device) {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(AuxiliaryDevice.PCI_ADDRESS, device.name());
    ServiceRegistration<?> offer = bundle.registerService(Mlx5Device.class, device, properties);
    return offer::unregister;
  }
}
