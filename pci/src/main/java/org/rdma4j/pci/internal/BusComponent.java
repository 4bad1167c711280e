package org.rdma4j.pci.internal;

import java.util.Map;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
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
 *
 * <p>Declarative Services lets an unregistration wait for the removal, also when the service is just being added on
 * another thread; a service tracker would let it return before.
 */
@Component(service = {}, immediate = true)
public final class BusComponent {
  private static final Logger LOG = LoggerFactory.getLogger(BusComponent.class);

  private final Bus bus = new Bus();
  private final ServiceRegistration<PciBus> registration;

  /**
   * Starts the bus. It is registered here and not as this component's own service: then nobody who looks at it from a
   * probe waits for this component to be active.
   *
   * @param bundle the bundle
   */
  @Activate
  public BusComponent(BundleContext bundle) {
    this.registration = bundle.registerService(PciBus.class, bus, null);
  }

  /** Takes all cards out and stops. */
  @Deactivate
  public void stop() {
    registration.unregister();
    bus.close();
  }

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  void addCard(PciCard card, Map<String, Object> properties) {
    try {
      Object slot = properties.get(PciCard.SLOT);
      bus.plug(card, slot == null ? null : PciAddress.parse(slot.toString()));
    } catch (PciException e) {
      LOG.error("{} is not plugged in: {}", card, e.getMessage(), e);
    }
  }

  void removeCard(PciCard card) {
    bus.unplug(card);
  }

  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  void addDriver(PciDriver driver) {
    bus.add(driver);
  }

  void removeDriver(PciDriver driver) {
    bus.remove(driver);
  }
}
