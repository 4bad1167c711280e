package org.rdma4j.tools.mlx5;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Hashtable;
import java.util.List;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciException;
import org.rdma4j.ulp.command.CommandException;

/** Cards by Configuration Admin, as everybody makes them: each is a factory configuration. */
@Component(service = Cards.class)
public final class ConfiguredCards implements Cards {
  private static final String FACTORY_PID = "org.rdma4j.mlx5.device";
  private static final long PATIENCE_MILLIS = 10_000;
  private static final int FIRST_BUS = 3;
  private static final int LAST_BUS = 0xff;

  private final BundleContext bundle;
  private final ConfigurationAdmin configurations;

  @Reference(cardinality = ReferenceCardinality.OPTIONAL, policy = ReferencePolicy.DYNAMIC)
  private volatile PciBus present;

  /**
   * Made by Declarative Services.
   *
   * @param bundle the bundle
   * @param configurations where configurations are made
   */
  @Activate
  public ConfiguredCards(BundleContext bundle, @Reference ConfigurationAdmin configurations) {
    this.bundle = bundle;
    this.configurations = configurations;
  }

  private PciBus bus() throws CommandException {
    PciBus bus = present;
    if (bus == null) {
      throw new CommandException("mlx5: there is no bus");
    }
    return bus;
  }

  @Override
  public List<ModelledCard> all() {
    List<ModelledCard> cards = new ArrayList<>();
    for (ServiceReference<ModelledCard> each : references()) {
      ModelledCard card = bundle.getService(each);
      if (card != null) {
        cards.add(card);
      }
    }
    cards.sort(Comparator.comparing(ModelledCard::name));
    return cards;
  }

  private List<ServiceReference<ModelledCard>> references() {
    try {
      return List.copyOf(bundle.getServiceReferences(ModelledCard.class, null));
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e); // There is no filter.
    }
  }

  @Override
  public String plug(String slot, String netdev, String address) throws CommandException {
    PciAddress where = slot == null ? free() : parse(slot);
    if (bus().function(where).isPresent()) {
      throw new CommandException("mlx5: slot " + where + " is taken");
    }
    Hashtable<String, Object> properties = new Hashtable<>();
    properties.put("slot", where.toString());
    if (netdev != null) {
      properties.put("netdev", netdev);
    }
    if (address != null) {
      properties.put("addr", address);
    }
    try {
      Configuration made = configurations.createFactoryConfiguration(FACTORY_PID, "?");
      made.update(properties);
      if (!comes(made.getPid())) {
        made.delete();
        throw new CommandException("mlx5: there is no card in " + where + "; the log says why");
      }
    } catch (IOException e) {
      throw new CommandException("mlx5: the configuration cannot be stored: " + e.getMessage(), e);
    }
    return where.toString();
  }

  private boolean comes(String pid) throws CommandException {
    String filter = "(&(" + Constants.OBJECTCLASS + "=" + ModelledCard.class.getName() + ")("
        + Constants.SERVICE_PID + "=" + pid + "))";
    try {
      var tracker = new ServiceTracker<ModelledCard, ModelledCard>(bundle, FrameworkUtil.createFilter(filter), null);
      tracker.open();
      try {
        return tracker.waitForService(PATIENCE_MILLIS) != null;
      } finally {
        tracker.close();
      }
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e); // The filter is right.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException("mlx5: interrupted", e);
    }
  }

  private PciAddress free() throws CommandException {
    for (int number = FIRST_BUS; number <= LAST_BUS; number++) {
      PciAddress each = PciAddress.parse("0000:%02x:00.0".formatted(number));
      if (bus().function(each).isEmpty()) {
        return each;
      }
    }
    throw new CommandException("mlx5: no slot is free");
  }

  private static PciAddress parse(String slot) throws CommandException {
    try {
      return PciAddress.parse(slot);
    } catch (PciException e) {
      throw new CommandException("mlx5: " + e.getMessage(), e);
    }
  }

  @Override
  public void unplug(String slot, boolean surprise) throws CommandException {
    PciAddress where = parse(slot);
    for (ServiceReference<ModelledCard> each : references()) {
      if (where.toString().equals(each.getProperty(ModelledCard.SLOT))) {
        takeOut(where, (String) each.getProperty(Constants.SERVICE_PID), surprise);
        return;
      }
    }
    throw new CommandException("mlx5: there is no modelled card in " + where);
  }

  /** First from the bus, which returns when the driver has given it back; then for good. */
  private void takeOut(PciAddress where, String pid, boolean surprise) throws CommandException {
    try {
      if (surprise) {
        bus().pull(where);
      } else {
        bus().unplug(where);
      }
      configurations.getConfiguration(pid, "?").delete();
    } catch (PciException e) {
      throw new CommandException("mlx5: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new CommandException("mlx5: the configuration cannot be deleted: " + e.getMessage(), e);
    }
  }
}
