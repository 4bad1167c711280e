package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Dictionary;
import java.util.Hashtable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.mlx5.device.CardFailure;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciFunction;

/** Cards by Configuration Admin: plugged in where the configuration says, and taken out when it goes. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class CardIT {
  private static final String FACTORY_PID = "org.rdma4j.mlx5.device";
  private static final String SLOT = "0000:05:00.0";
  private static final long PATIENCE_MILLIS = 30_000;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  private org.osgi.service.cm.Configuration configure(String name, String... keysAndValues) throws Exception {
    Dictionary<String, Object> properties = new Hashtable<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      properties.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    var made = configurations.getFactoryConfiguration(FACTORY_PID, name, "?");
    made.update(properties);
    return made;
  }

  private ModelledCard await(String slot) throws Exception {
    String filter = "(&(objectClass=" + ModelledCard.class.getName() + ")(" + ModelledCard.SLOT + "=" + slot + "))";
    var tracker = new ServiceTracker<ModelledCard, ModelledCard>(context, context.createFilter(filter), null);
    tracker.open();
    try {
      return tracker.waitForService(PATIENCE_MILLIS);
    } finally {
      tracker.close();
    }
  }

  private static void await(BooleanSupplier condition, String otherwise) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (!condition.getAsBoolean()) {
      assertTrue(otherwise, System.nanoTime() < deadline);
      Thread.onSpinWait();
    }
  }

  @After
  public void removeAll() throws Exception {
    var left = configurations.listConfigurations("(service.factoryPid=" + FACTORY_PID + ")");
    for (var each : left == null ? new org.osgi.service.cm.Configuration[0] : left) {
      each.delete();
    }
    await(() -> bus.functions().isEmpty(), "a card does not go");
  }

  @Test
  public void aConfigurationIsACardInItsSlot() throws Exception {
    String address = Links.address(0);
    var configuration = configure("it", "slot", SLOT, "addr", address);
    ModelledCard card = await(SLOT);
    assertEquals(SLOT, card.name());
    assertEquals("lo ::ffff:" + address, card.port());
    assertTrue(card.tables().stream().anyMatch(table -> table.name().equals("qp")));
    PciFunction function = bus.function(PciAddress.parse(SLOT)).orElseThrow();
    assertEquals(0x15b3, function.identity().vendor());
    assertEquals(0x1019, function.readConfig(2, 2));
    await(() -> function.driverName().isPresent(), "no driver takes it");
    assertEquals("mlx5_core", function.driverName().orElseThrow());
    assertTrue(card.pages().given() > 0);

    configuration.delete();
    await(() -> bus.function(PciAddress.parse(SLOT)).isEmpty(), "the card does not go");
    assertFalse(
        "its threads end",
        Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().endsWith(SLOT)));
  }

  @Test
  public void aWrongConfigurationSaysWhatIsWrong() throws Exception {
    log.expect("ERROR org.rdma4j.mlx5.device.internal.ConfiguredCard no card from configuration .*netdev or addr is.*");
    var configuration = configure("wrong", "slot", "0000:06:00.0");
    await(() -> !log.logged().isEmpty(), "nobody says what is wrong");
    String pid = configuration.getPid();
    await(() -> failure(pid) != null, "no service says what is wrong");
    assertTrue(failure(pid).contains("netdev or addr is missing"));
    assertFalse(bus.function(PciAddress.parse("0000:06:00.0")).isPresent());
    configuration.delete();
    await(() -> failure(pid) == null, "the reason stays");
  }

  private String failure(String pid) {
    try {
      String filter = "(" + CardFailure.PROPERTY_PID + "=" + pid + ")";
      for (var each : context.getServiceReferences(CardFailure.class, filter)) {
        CardFailure found = context.getService(each);
        return found == null ? null : found.reason();
      }
      return null;
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
