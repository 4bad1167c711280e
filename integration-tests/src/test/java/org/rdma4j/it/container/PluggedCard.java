package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Hashtable;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;

/** A modelled card with its PCI driver, for one test. */
final class PluggedCard {
  static final PciAddress SLOT = PciAddress.parse("0000:05:00.0");
  static final String ADDRESS = Links.address(5);
  private static final String FACTORY_PID = "org.rdma4j.mlx5.device";
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private final BundleContext context;
  private final Configuration configuration;

  /**
   * Plugs it in and waits until the driver has it. Each test has a configuration of its own: events of the last one
   * that come late are not about this card.
   */
  PluggedCard(BundleContext context, ConfigurationAdmin configurations) throws Exception {
    this.context = context;
    var settings = new Hashtable<String, Object>();
    settings.put("slot", SLOT.toString());
    settings.put("netdev", "lo");
    settings.put("addr", ADDRESS);
    configuration = configurations.createFactoryConfiguration(FACTORY_PID, "?");
    configuration.update(settings);
    awaitUp();
  }

  /** The driver has the card when its probe is over, which is after it has offered what it found. */
  void awaitUp() {
    await("no auxiliary device", () -> find(AuxiliaryDevice.class) != null);
    await("no card", () -> find(ModelledCard.class) != null);
    await("no driver", () -> bus().function(SLOT).orElseThrow().driverName().isPresent());
  }

  /** Takes it out; nothing of it may be left. */
  void unplug() throws Exception {
    configuration.delete();
    await("the card stays", () -> find(ModelledCard.class) == null);
    await("the function stays", () -> bus().function(SLOT).isEmpty());
    assertEquals(List.of(), bus().interrupts());
    assertNull(find(AuxiliaryDevice.class));
    assertNull(find(Mlx5Device.class));
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("mlx5-"))
            .toList());
  }

  <T> T find(Class<T> type) {
    ServiceReference<T> reference = context.getServiceReference(type);
    return reference == null ? null : context.getService(reference);
  }

  private PciBus bus() {
    return find(PciBus.class);
  }

  Mlx5Device device() {
    Mlx5Device device = find(Mlx5Device.class);
    assertNotNull(device);
    return device;
  }

  ModelledCard card() {
    return find(ModelledCard.class);
  }

  static void await(String otherwise, BooleanSupplier what) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!what.getAsBoolean()) {
      assertTrue(otherwise, System.nanoTime() - end < 0);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }
}
