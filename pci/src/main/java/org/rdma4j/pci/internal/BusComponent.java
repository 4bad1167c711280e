package org.rdma4j.pci.internal;

import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bus in its container: takes cards and drivers from the service registry and publishes itself. When it stops all
 * cards are taken out in order.
 */
@Component(service = {}, immediate = true)
public final class BusComponent {
  private static final Logger LOG = LoggerFactory.getLogger(BusComponent.class);

  private final Bus bus = new Bus();
  private final Whiteboard<PciDriver> drivers;
  private final Whiteboard<PciCard> cards;
  private final ServiceRegistration<PciBus> registration;

  /**
   * Starts the bus.
   *
   * @param bundle the bundle
   */
  @Activate
  public BusComponent(BundleContext bundle) {
    this.drivers = new Whiteboard<>(bundle, PciDriver.class, new Drivers());
    this.cards = new Whiteboard<>(bundle, PciCard.class, new Cards());
    this.registration = bundle.registerService(PciBus.class, bus, null);
    drivers.open();
    cards.open();
  }

  /** Takes all cards out and stops. */
  @Deactivate
  public void stop() {
    cards.close(true);
    drivers.close(true);
    registration.unregister();
    bus.close();
  }

  private final class Drivers implements Whiteboard.Handler<PciDriver> {
    @Override
    public void added(PciDriver driver, ServiceReference<PciDriver> reference) {
      bus.add(driver);
    }

    @Override
    public void removed(PciDriver driver, ServiceReference<PciDriver> reference) {
      bus.remove(driver);
    }
  }

  private final class Cards implements Whiteboard.Handler<PciCard> {
    @Override
    public void added(PciCard card, ServiceReference<PciCard> reference) {
      try {
        Object slot = reference.getProperty(PciCard.SLOT);
        bus.plug(card, slot == null ? null : PciAddress.parse(slot.toString()));
      } catch (PciException e) {
        LOG.error("a card of bundle {} is not plugged in: {}", Whiteboard.bundleName(reference), e.getMessage(), e);
      }
    }

    @Override
    public void removed(PciCard card, ServiceReference<PciCard> reference) {
      bus.unplug(card);
    }
  }
}
