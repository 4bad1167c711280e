package org.rdma4j.mlx5.device.internal;

import java.util.Hashtable;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedServiceFactory;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.mlx5.device.PacketTracer;
import org.rdma4j.pci.PciBus;

/**
 * Brings the cards that are configured, and takes them back. An activator and not a component: the framework calls it
 * under the lock of the bundle's state, so that starts and stops of several threads cannot overtake each other.
 */
public final class CardBundle implements BundleActivator {
  private CardFactory factory;
  private ServiceRegistration<ManagedServiceFactory> registration;
  private ServiceTracker<PacketTracer, PacketTracer> tracers;
  private ServiceTracker<PciBus, PciBus> buses;

  /** For the framework. */
  public CardBundle() {}

  @Override
  public void start(BundleContext bundle) {
    Tracing tracing = new Tracing();
    tracers =
        new ServiceTracker<>(bundle, PacketTracer.class, null) {
          @Override
          public PacketTracer addingService(ServiceReference<PacketTracer> reference) {
            PacketTracer tracer = super.addingService(reference);
            tracing.tracer(tracer);
            return tracer;
          }

          @Override
          public void removedService(ServiceReference<PacketTracer> reference, PacketTracer tracer) {
            tracing.tracer(null);
            super.removedService(reference, tracer);
          }
        };
    tracers.open();
    CardFactory cards = new CardFactory(bundle, tracing);
    factory = cards;
    Hashtable<String, Object> properties = new Hashtable<>();
    properties.put(Constants.SERVICE_PID, CardFactory.PID);
    registration = bundle.registerService(ManagedServiceFactory.class, factory, properties);
    ServiceReference<ConfigurationAdmin> configurations = bundle.getServiceReference(ConfigurationAdmin.class);
    if (configurations != null) {
      cards.begin(bundle.getService(configurations));
    }
    buses =
        new ServiceTracker<>(bundle, PciBus.class, null) {
          @Override
          public PciBus addingService(ServiceReference<PciBus> reference) {
            PciBus bus = super.addingService(reference);
            cards.busComes();
            return bus;
          }

          @Override
          public void removedService(ServiceReference<PciBus> reference, PciBus bus) {
            cards.busGoes();
            super.removedService(reference, bus);
          }
        };
    buses.open();
  }

  @Override
  public void stop(BundleContext bundle) {
    registration.unregister();
    factory.close();
    buses.close();
    tracers.close();
  }
}
