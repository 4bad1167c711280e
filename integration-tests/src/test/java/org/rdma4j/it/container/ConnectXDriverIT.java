package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;

/** The modelled card and the PCI driver, which know each other by PCI only, from plug to unplug. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXDriverIT {
  private static final String FACTORY_PID = "org.rdma4j.mlx5.device";
  private static final PciAddress SLOT = PciAddress.parse("0000:05:00.0");
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  private org.osgi.service.cm.Configuration configuration;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void plug() throws Exception {
    var card = new Hashtable<String, Object>();
    card.put("slot", SLOT.toString());
    card.put("netdev", "lo");
    card.put("addr", Links.address(5));
    // Each test has a configuration of its own: events of the last one that come late are not about this card.
    configuration = configurations.createFactoryConfiguration(FACTORY_PID, "?");
    configuration.update(card);
    awaitUp();
  }

  /** The driver has the card when its probe is over, which is after it has offered what it found. */
  private void awaitUp() {
    await("no auxiliary device", () -> find(AuxiliaryDevice.class) != null);
    await("no card", () -> card() != null);
    await("no driver", () -> bus.function(SLOT).orElseThrow().driverName().isPresent());
  }

  @After
  public void unplug() throws Exception {
    configuration.delete();
    await("the card stays", () -> find(ModelledCard.class) == null);
    await("the function stays", () -> bus.function(SLOT).isEmpty());
    assertEquals(List.of(), bus.interrupts());
    assertEquals(null, find(AuxiliaryDevice.class));
    assertEquals(null, find(Mlx5Device.class));
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("mlx5-"))
            .toList());
  }

  private <T> T find(Class<T> type) {
    ServiceReference<T> reference = context.getServiceReference(type);
    return reference == null ? null : context.getService(reference);
  }

  private static void await(String otherwise, BooleanSupplier what) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!what.getAsBoolean()) {
      assertTrue(otherwise, System.nanoTime() - end < 0);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }

  private Mlx5Device device() {
    Mlx5Device device = find(Mlx5Device.class);
    assertNotNull(device);
    return device;
  }

  private ModelledCard card() {
    return find(ModelledCard.class);
  }

  /** What is written to {@code mlx5 trace}: opcode and modifier. */
  private static String line(CommandRecord command) {
    assertEquals(command.toString(), 0, command.status());
    return command.opcode().text() + " " + command.modifier();
  }

  @Test
  public void cardAndDriverFindEachOther() {
    assertEquals("mlx5_core", bus.function(SLOT).orElseThrow().driverName().orElseThrow());
    assertEquals("mlx5_core.rdma.0", find(AuxiliaryDevice.class).name());
    assertEquals(DeviceState.UP, device().state());
    assertEquals(SLOT.toString(), device().name());
    assertTrue(card().pages().given() > 0);
    int pd = ObjectCommands.allocatePd(device());
    ObjectCommands.freePd(device(), pd);
  }

  @Test
  public void downAndUpInTheKernelsOrder() {
    List<String> commands = new CopyOnWriteArrayList<>();
    int completion = device().completionVectors();
    Mlx5Device device = device();
    device.trace(command -> commands.add(line(command)));
    device.reload();
    device.trace(null);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < completion + 3; i++) {
      expected.add("DESTROY_EQ 0");
    }
    expected.addAll(List.of("DEALLOC_UAR 0", "TEARDOWN_HCA 0", "MANAGE_PAGES 2", "DISABLE_HCA 0"));
    expected.addAll(List.of("ENABLE_HCA 0", "QUERY_ISSI 0", "SET_ISSI 0", "QUERY_PAGES 1", "MANAGE_PAGES 1"));
    expected.addAll(List.of("ACCESS_REG 1", "ACCESS_REG 0", "QUERY_HCA_CAP 1", "QUERY_HCA_CAP 0", "SET_HCA_CAP 0"));
    assertEquals(expected, commands.subList(0, expected.size()));
    List<String> rest = commands.subList(expected.size(), commands.size());
    int init = rest.indexOf("INIT_HCA 0");
    assertEquals(List.of("QUERY_PAGES 2", "MANAGE_PAGES 1"), rest.subList(init - 2, init));
    assertTrue(
        rest.subList(0, init - 2).toString(),
        rest.subList(0, init - 2).stream().allMatch(each -> each.matches("(QUERY|SET)_HCA_CAP \\d+")));
    assertEquals("SET_DRIVER_VERSION 0", rest.get(init + 1));
    int adapter = rest.indexOf("QUERY_ADAPTER 0");
    assertTrue(
        rest.subList(init + 2, adapter).toString(),
        rest.subList(init + 2, adapter).stream().allMatch(each -> each.matches("QUERY_HCA_CAP \\d+|ACCESS_REG 1")));
    List<String> last = new ArrayList<>(List.of("ALLOC_UAR 0"));
    for (int i = 0; i < completion + 3; i++) {
      last.add("CREATE_EQ 0");
    }
    List<String> loaded = new ArrayList<>(rest.subList(adapter + 1, rest.size()));
    loaded.remove("MODIFY_NIC_VPORT_CONTEXT 0"); // Where the card can switch local loopback off.
    assertEquals(last, loaded);
  }

  @Test
  public void pulledOutNothingIsLeft() {
    log.expect("WARN org.rdma4j.pci.internal.Bus .*pulled out");
    bus.pull(SLOT);
    assertEquals(null, find(AuxiliaryDevice.class));
    assertEquals(null, find(Mlx5Device.class));
  }

  @Test
  public void driverStopsAndStartsAgain() throws Exception {
    Bundle core = bundle("org.rdma4j.mlx5.core");
    core.stop();
    assertEquals(0, card().pages().given());
    assertFalse(bus.function(SLOT).orElseThrow().driverName().isPresent());
    core.start();
    awaitUp();
    assertEquals("mlx5_core.rdma.0", find(AuxiliaryDevice.class).name());
  }

  private Bundle bundle(String name) {
    for (Bundle each : context.getBundles()) {
      if (name.equals(each.getSymbolicName())) {
        return each;
      }
    }
    throw new AssertionError(name);
  }

  @Test
  public void fatalErrorsAreRecoveredFrom() {
    log.allow("ERROR org.rdma4j.mlx5.core.internal.Health .*fatal error");
    log.allow("WARN org.rdma4j.mlx5.device.internal.Card .*asserts");
    Mlx5Device device = device();
    device.gracePeriod(0);
    for (int cycle = 1; cycle <= 3; cycle++) {
      int expected = cycle;
      card().faults().assertFatal(1);
      await(
          "not recovered",
          () -> reporter(device).recoveries() == expected && device.state() == DeviceState.UP);
      assertTrue(reporter(device).healthy());
      ObjectCommands.freePd(device, ObjectCommands.allocatePd(device));
    }
  }

  private static HealthReporter reporter(Mlx5Device device) {
    return device.healthReporters().stream()
        .filter(each -> each.name().equals("fw_fatal"))
        .findFirst()
        .orElseThrow();
  }
}
