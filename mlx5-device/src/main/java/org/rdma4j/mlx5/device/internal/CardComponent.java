package org.rdma4j.mlx5.device.internal;

import java.util.Hashtable;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.metatype.annotations.Designate;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciCard;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.UdpLinkConfig;
import org.rdma4j.roce.link.UdpLinks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One card, made from one factory configuration: a service that the bus plugs in. A configuration that cannot be
 * carried out leaves nothing behind but its reason, in the log and as the failure of this component.
 */
@Component(
    name = CardComponent.FACTORY_PID,
    service = {},
    immediate = true,
    configurationPid = CardComponent.FACTORY_PID,
    configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = CardConfiguration.class, factory = true)
public final class CardComponent {
  /** PID of the factory configurations of cards. */
  static final String FACTORY_PID = "org.rdma4j.mlx5.device";

  private static final Logger LOG = LoggerFactory.getLogger(CardComponent.class);
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final Card card;
  private final ServiceRegistration<PciCard> plugged;
  private final ServiceRegistration<ModelledCard> shown;

  /**
   * Makes the card and registers it.
   *
   * @param bundle the bundle
   * @param properties the configuration
   * @throws IllegalArgumentException why there is no card, for those who look at the component
   */
  @Activate
  public CardComponent(BundleContext bundle, Map<String, Object> properties) {
    try {
      CardSettings settings = SettingsReader.read("card" + NUMBERS.getAndIncrement(), properties);
      Link link = UdpLinks.open(UdpLinkConfig.DEFAULT.withNetworkInterface(settings.netdev()));
      card = new Card(settings, link);
      Hashtable<String, Object> service = new Hashtable<>();
      service.put(Constants.SERVICE_PID, properties.get(Constants.SERVICE_PID));
      if (!settings.slot().isEmpty()) {
        service.put(PciCard.SLOT, settings.slot());
      }
      plugged = bundle.registerService(PciCard.class, card, service); // The bus plugs it in now.
      shown = bundle.registerService(ModelledCard.class, card, service);
    } catch (IllegalArgumentException | LinkException e) {
      LOG.error("no card from configuration {}: {}", properties.get(Constants.SERVICE_PID), e.getMessage());
      throw e;
    }
  }

  /** Takes the card back; the bus has taken it out when this returns. */
  @Deactivate
  public void stop() {
    shown.unregister();
    plugged.unregister();
    card.discard();
  }
}
