package org.rdma4j.pci.internal;

import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciTracer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bus in its container: takes cards and drivers from the service registry and publishes itself. When it stops all
 * cards are taken out in order. An activator and not a component: the framework calls it under the lock of the bundle's
 * state, so that starts and stops of several threads cannot overtake each other.
 */
public final class BusBundle implements BundleActivator {
  private static final Logger LOG = LoggerFactory.getLogger(BusBundle.class);

  private Bus bus;
  private ServiceRegistration<PciBus> registration;
  private ServiceTracker<PciTracer, PciTracer> tracers;
  private Comings<PciCard> cards;
  private Comings<PciDriver> drivers;

  /** For the framework. */
  public BusBundle() {}

  @Override
  public void start(BundleContext bundle) {
    Bus made = new Bus();
    bus = made;
    tracers =
        new ServiceTracker<>(bundle, PciTracer.class, null) {
          @Override
          public PciTracer addingService(ServiceReference<PciTracer> reference) {
            PciTracer tracer = super.addingService(reference);
            made.trace(tracer);
            return tracer;
          }

          @Override
          public void removedService(ServiceReference<PciTracer> reference, PciTracer tracer) {
            made.trace(null);
            super.removedService(reference, tracer);
          }
        };
    tracers.open();
    drivers = new Comings<>(bundle, PciDriver.class, (driver, reference) -> made.add(driver), made::remove);
    cards = new Comings<>(bundle, PciCard.class, (card, reference) -> plug(made, card, reference), made::unplug);
    drivers.open();
    cards.open();
    registration = bundle.registerService(PciBus.class, made, null);
  }

  private static void plug(Bus bus, PciCard card, ServiceReference<PciCard> reference) {
    Object slot = reference.getProperty(PciCard.SLOT);
    try {
      bus.plug(card, slot == null ? null : PciAddress.parse(slot.toString()));
    } catch (PciException e) {
      LOG.error("{} is not plugged in: {}", card, e.getMessage(), e);
    }
  }

  /** Takes all cards out and stops. */
  @Override
  public void stop(BundleContext bundle) {
    registration.unregister();
    cards.close();
    drivers.close();
    bus.close();
    tracers.close();
  }
}
