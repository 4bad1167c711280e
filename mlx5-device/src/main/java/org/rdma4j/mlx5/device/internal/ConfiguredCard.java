package org.rdma4j.mlx5.device.internal;

import java.util.Hashtable;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.mlx5.device.CardFailure;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciCard;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.UdpLinkConfig;
import org.rdma4j.roce.link.UdpLinks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One card, made from one factory configuration: a service that the bus plugs in. A card is plugged in once, so each
 * bus that comes gets another. A configuration that cannot be carried out leaves nothing behind but its reason, in the
 * log and as a {@link CardFailure}. For one thread at a time.
 */
final class ConfiguredCard {
  private static final Logger LOG = LoggerFactory.getLogger(ConfiguredCard.class);
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final BundleContext bundle;
  private final Tracing tracing;
  private final String pid;
  private Map<String, Object> present = Map.of();
  private Card card;
  private ServiceRegistration<PciCard> plugged;
  private ServiceRegistration<ModelledCard> shown;
  private ServiceRegistration<CardFailure> failure;

  /** Makes nothing yet. */
  ConfiguredCard(BundleContext bundle, Tracing tracing, String pid) {
    this.bundle = bundle;
    this.tracing = tracing;
    this.pid = pid;
  }

  /** Takes a configuration over, the first or a changed one; whether there is anything to do. */
  boolean update(Map<String, Object> properties) {
    boolean changed = !properties.equals(present);
    present = properties;
    return changed;
  }

  /** Makes the card, for a bus that is there. */
  void start() {
    try {
      CardSettings settings = SettingsReader.read("card" + NUMBERS.getAndIncrement(), present);
      Link link = UdpLinks.open(UdpLinkConfig.DEFAULT.withNetworkInterface(settings.netdev()));
      card = new Card(settings, link, tracing);
      Hashtable<String, Object> service = new Hashtable<>();
      service.put(Constants.SERVICE_PID, pid);
      if (!settings.slot().isEmpty()) {
        service.put(PciCard.SLOT, settings.slot());
      }
      plugged = bundle.registerService(PciCard.class, card, service); // The bus plugs it in now.
      shown = bundle.registerService(ModelledCard.class, card, service);
    } catch (IllegalArgumentException | LinkException e) {
      LOG.error("no card from configuration {}: {}", pid, e.getMessage());
      failed(e.getMessage());
    } catch (IllegalStateException e) {
      LOG.debug("the bundle has stopped: no card from configuration {}", pid, e);
      stop();
    }
  }

  private void failed(String reason) {
    Hashtable<String, Object> service = new Hashtable<>();
    service.put(CardFailure.PROPERTY_PID, pid);
    try {
      failure = bundle.registerService(CardFailure.class, () -> reason, service);
    } catch (IllegalStateException e) {
      LOG.debug("the bundle has stopped: nobody is told why there is no card of {}", pid, e);
    }
  }

  /** Takes the card back; the bus has taken it out when this returns. */
  void stop() {
    end(failure);
    end(shown);
    end(plugged);
    if (card != null) {
      card.discard();
    }
    failure = null;
    shown = null;
    plugged = null;
    card = null;
  }

  private static void end(ServiceRegistration<?> service) {
    if (service != null) {
      try {
        service.unregister();
      } catch (IllegalStateException e) {
        LOG.debug("{} went with its bundle", service, e);
      }
    }
  }
}
