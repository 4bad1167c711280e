package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;

/** The modelled card and the PCI driver, which know each other by PCI only, from plug to unplug. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXDriverIT {
  private static final PciAddress SLOT = PluggedCard.SLOT;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  private PluggedCard plugged;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  /** The card is for the tests alone. */
  @Before
  public void plug() throws Exception {
    Bundles.named(context, "org.rdma4j.mlx5.ib").stop();
    plugged = new PluggedCard(context, configurations);
  }

  @After
  public void unplug() throws Exception {
    plugged.unplug();
  }

  private Mlx5Device device() {
    return plugged.device();
  }

  /** What is written to {@code mlx5 trace}: opcode and modifier. */
  private static String line(CommandRecord command) {
    assertEquals(command.toString(), 0, command.status());
    return command.opcode().text() + " " + command.modifier();
  }

  @Test
  public void cardAndDriverFindEachOther() {
    assertEquals("mlx5_core", bus.function(SLOT).orElseThrow().driverName().orElseThrow());
    assertEquals("mlx5_core.rdma.0", plugged.find(AuxiliaryDevice.class).name());
    assertEquals(DeviceState.UP, device().state());
    assertEquals(SLOT.toString(), device().name());
    assertTrue(plugged.card().pages().given() > 0);
    int pd = ObjectCommands.allocatePd(device());
    ObjectCommands.freePd(device(), pd);
  }

  @Test
  public void downAndUpInTheKernelsOrder() {
    List<String> commands = new CopyOnWriteArrayList<>();
    int completion = device().completionVectors();
    Mlx5Device device = device();
    CommandTracer tracer = command -> commands.add(line(command));
    ServiceRegistration<?> tracing = context.registerService(CommandTracer.class, tracer, null);
    device.reload();
    tracing.unregister();
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
    assertEquals(null, plugged.find(AuxiliaryDevice.class));
    assertEquals(null, plugged.find(Mlx5Device.class));
  }

  @Test
  public void driverStopsAndStartsAgain() throws Exception {
    Bundle core = bundle("org.rdma4j.mlx5.core");
    core.stop();
    try {
      assertEquals(0, plugged.card().pages().given());
      assertFalse(bus.function(SLOT).orElseThrow().driverName().isPresent());
    } finally {
      core.start();
    }
    plugged.awaitUp();
    assertEquals("mlx5_core.rdma.0", plugged.find(AuxiliaryDevice.class).name());
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
      plugged.card().faults().assertFatal(1);
      PluggedCard.await(
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
