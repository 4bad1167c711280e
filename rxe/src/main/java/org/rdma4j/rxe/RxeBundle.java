package org.rdma4j.rxe;

import java.util.Hashtable;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedServiceFactory;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.client.LinkOperations;

/**
 * Starts and stops the provider. An activator and not a component: the framework calls it under the lock of the
 * bundle's state, so that stop and start cannot overtake each other, whoever calls them. Declarative Services hears
 * of a start after that lock is released; when another thread stops the bundle right then, it is left with components
 * of a bundle that has stopped, and makes no new ones at the next start.
 */
public final class RxeBundle implements BundleActivator {
  private RxeLinkFactory factory;
  private ServiceRegistration<ManagedServiceFactory> registration;
  private ServiceTracker<ConfigurationAdmin, ServiceRegistration<LinkOperations>> commands;

  /** For the framework. */
  public RxeBundle() {}

  @Override
  public void start(BundleContext bundle) {
    var links = new RxeLinks();
    factory = new RxeLinkFactory(bundle, links);
    String factoryPid = bundle.getBundle().getSymbolicName();
    var properties = new Hashtable<String, Object>();
    properties.put(Constants.SERVICE_PID, factoryPid);
    registration = bundle.registerService(ManagedServiceFactory.class, factory, properties);
    commands =
        new ServiceTracker<>(bundle, ConfigurationAdmin.class, null) {
          @Override
          public ServiceRegistration<LinkOperations> addingService(ServiceReference<ConfigurationAdmin> reference) {
            var operations = new RxeLinkOperations(context.getService(reference), factoryPid, links);
            return context.registerService(LinkOperations.class, operations, null);
          }

          @Override
          public void removedService(
              ServiceReference<ConfigurationAdmin> reference, ServiceRegistration<LinkOperations> operations) {
            operations.unregister();
            context.ungetService(reference);
          }
        };
    commands.open();
    ServiceReference<ConfigurationAdmin> configurations = bundle.getServiceReference(ConfigurationAdmin.class);
    if (configurations != null) {
      factory.begin(bundle.getService(configurations), factoryPid);
    }
  }

  @Override
  public void stop(BundleContext bundle) {
    commands.close();
    registration.unregister();
    factory.close();
  }
}
