package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
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
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.mlx5.device.CardFaults;
import org.rdma4j.pci.PciBus;

/** Each fault of the card: what the driver, the consumers and the tools see of it, and that all is well afterwards. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXFaultsIT {
  private static final String CARD = "mlx5_0";
  private static final String PEER = "it0";
  private static final String DEV = "pci/" + PluggedCard.SLOT;
  private static final int MESSAGE = 64;
  private static final int ALLOC_PD = 0x800;
  private static final int NO_RESOURCES = 0xf;
  private static final long POLL_MILLIS = 100;
  private static final long COMMAND_MILLIS = 500;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  private final List<Endpoint> ends = new ArrayList<>();
  private Links links;
  private PluggedCard plugged;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    // Who looks so often finds the firmware of a busy machine standing now and then.
    log.allow("ERROR org.rdma4j.mlx5.core.internal.Health .*health counter does not move");
    links = new Links(context, configurations);
    quicken();
    plugged = new PluggedCard(context, configurations);
    links.add(PEER, Links.address(0));
    assertEquals(CARD, links.await(CARD).name());
  }

  /** The driver looks at the card often and waits for commands briefly; read when it starts. */
  private void quicken() throws Exception {
    var settings = new Hashtable<String, Object>();
    settings.put("health.poll.interval", POLL_MILLIS);
    settings.put("command.timeout", COMMAND_MILLIS);
    settings.put("grace.period", 0);
    configurations.getConfiguration("org.rdma4j.mlx5.core", "?").update(settings);
    Bundle core = Bundles.named(context, "org.rdma4j.mlx5.core");
    core.stop();
    core.start();
  }

  @After
  public void cleanUp() throws Exception {
    Bundles.startAll(context);
    ends.forEach(Endpoint::release);
    for (Endpoint end : ends) {
      end.join();
      end.close();
    }
    links.removeAll();
    plugged.unplug();
    configurations.getConfiguration("org.rdma4j.mlx5.core", "?").delete();
    assertEquals(List.of(), links.names());
  }

  private CardFaults faults() {
    return plugged.card().faults();
  }

  private String shell(String command) {
    return Shell.run(context, command);
  }

  private Endpoint end(String name) throws Exception {
    Endpoint end = new Endpoint(links.await(name));
    ends.add(end);
    return end;
  }

  /** Traffic in full flow both ways, until it is ended in order. */
  private void assertTrafficFlows() throws Exception {
    Endpoint card = end(CARD);
    Endpoint peer = end(PEER);
    Endpoint.connect(card, peer);
    card.start();
    peer.start();
    card.awaitBusy();
    Endpoint.finish(card, peer);
    assertEquals(List.of(), card.problems());
    assertEquals(List.of(), peer.problems());
    assertTrue(card.succeeded() > 0);
  }

  private void assertHealthy() {
    String health = shell("devlink health show " + DEV + " reporter fw_fatal");
    assertTrue(health, health.contains("state healthy error 0 recover 0"));
    assertTrue(shell("rdma link show " + CARD + "/1"), shell("rdma link").contains("link mlx5_0/1 state ACTIVE"));
  }

  private static Context open(Endpoint end) {
    return end.context();
  }

  @Test
  public void aCommandIsNotAnswered() throws Exception {
    log.expect("WARN .*CommandInterface ALLOC_PD: no answer; slot \\d+ stays taken");
    Context verbs = open(end(CARD));
    faults().dropCommands(1);
    VerbsException refused = assertThrows(VerbsException.class, verbs::allocatePd);
    assertEquals(refused.toString(), Errno.ETIMEDOUT, refused.errno());
    assertTrue(refused.getMessage(), refused.getMessage().contains("ALLOC_PD(0x800): no answer in time"));
    verbs.allocatePd().destroy();
    assertHealthy();
    assertTrafficFlows();
  }

  @Test
  public void aCommandFails() throws Exception {
    Context verbs = open(end(CARD));
    faults().failCommands(ALLOC_PD, NO_RESOURCES, 1);
    VerbsException refused = assertThrows(VerbsException.class, verbs::allocatePd);
    assertEquals(refused.toString(), Errno.EAGAIN, refused.errno());
    assertTrue(refused.getMessage(), refused.getMessage().contains("status no resources(0xf)"));
    verbs.allocatePd().destroy();
    assertHealthy();
    assertTrafficFlows();
  }

  @Test
  public void theHealthCounterStands() throws Exception {
    log.expect("ERROR .*Health .*health counter does not move");
    faults().stopHealthCounter(true);
    PluggedCard.await(
        "the reporter says nothing",
        () -> shell("devlink health show " + DEV + " reporter fw").contains("state error error 1 recover 0"));
    assertHealthy();
    assertTrafficFlows();
    faults().stopHealthCounter(false);
  }

  @Test
  public void theFirmwareAsserts() throws Exception {
    log.expect("ERROR .*Health .*fatal error: firmware asks for a reset: firmware internal error");
    log.expect("WARN .*Card .*asserts");
    Endpoint card = end(CARD);
    Endpoint peer = end(PEER);
    Endpoint.connect(card, peer);
    card.start();
    peer.start();
    card.awaitBusy();
    faults().assertFatal(1);
    card.join();
    peer.join();
    assertEquals(List.of(), card.problems());
    assertEquals(List.of(), peer.problems());
    assertTrue(card.events().toString(), card.events().contains(AsyncEventType.DEVICE_FATAL));
    assertTrue(card.flushed() > 0);
    PluggedCard.await(
        "not recovered",
        () -> shell("devlink health show " + DEV + " reporter fw_fatal").contains("state healthy error 1 recover 1"));
    links.await(CARD);
    assertTrue(shell("ibv_devinfo -d mlx5_0"), shell("ibv_devinfo -d mlx5_0").contains("PORT_ACTIVE (4)"));
    assertTrafficFlows();
  }

  @Test
  public void theInterruptOfACommandIsLost() throws Exception {
    log.expect("WARN .*CommandInterface slot \\d+: the event of a command was lost, and found");
    Context verbs = open(end(CARD));
    faults().loseInterrupts(1);
    verbs.allocatePd().destroy();
    assertHealthy();
    assertTrafficFlows();
  }

  /** The card could not read its queue: it cannot complete what is in there either, and says so by an event. */
  @Test
  public void anAccessToHostMemoryFaults() throws Exception {
    Endpoint card = end(CARD);
    Endpoint peer = end(PEER);
    Endpoint.connect(card, peer);
    receive(peer);
    faults().failDma(1);
    send(card);
    PluggedCard.await("no event", () -> card.events().contains(AsyncEventType.QP_FATAL));
    assertEquals(QpState.ERR, card.pair().state());
    assertHealthy();
    assertTrafficFlows();
  }

  @Test
  public void thePortGoesDownAndUp() throws Exception {
    Endpoint card = end(CARD);
    faults().cable(false);
    PluggedCard.await("no event", () -> card.events().contains(AsyncEventType.PORT_ERR));
    String link = shell("rdma link show mlx5_0/1");
    assertTrue(link, link.contains("state DOWN physical_state"));
    assertFalse(link, link.contains("LINK_UP"));
    assertTrue(shell("ibv_devinfo -d mlx5_0"), shell("ibv_devinfo -d mlx5_0").contains("PORT_DOWN (1)"));
    faults().cable(true);
    PluggedCard.await("no event", () -> card.events().contains(AsyncEventType.PORT_ACTIVE));
    assertHealthy();
    assertTrafficFlows();
  }

  @Test
  public void theCardIsPulledOut() throws Exception {
    log.expect("WARN org.rdma4j.pci.internal.Bus .*pulled out");
    Endpoint card = end(CARD);
    Endpoint peer = end(PEER);
    Endpoint.connect(card, peer);
    card.start();
    peer.start();
    card.awaitBusy();
    bus.pull(PluggedCard.SLOT);
    assertEquals("", shell("devlink dev"));
    assertFalse(shell("rdma link"), shell("rdma link").contains(CARD));
    assertTrue(shell("ibv_devinfo -d mlx5_0"), shell("ibv_devinfo -d mlx5_0").contains("wasn't found"));
    assertEquals("", shell("lspci -s " + PluggedCard.SLOT));
    card.join();
    peer.join();
    assertEquals(List.of(), card.problems());
    assertEquals(List.of(), peer.problems());
    assertTrue(card.events().toString(), card.events().contains(AsyncEventType.DEVICE_FATAL));
    plugged.unplug();
    plugged = new PluggedCard(context, configurations);
    assertTrafficFlows();
  }

  /** The driver cannot know; who reads the message does. */
  @Test
  public void aBitOfACompletionIsWrong() throws Exception {
    Endpoint card = end(CARD);
    Endpoint peer = end(PEER);
    Endpoint.connect(card, peer);
    receive(card);
    receive(card);
    faults().corruptCompletions(1);
    send(peer);
    send(peer);
    WorkCompletion wrong = poll(card);
    assertEquals(WcStatus.SUCCESS, wrong.status());
    assertEquals(MESSAGE ^ 1, wrong.byteLength());
    assertEquals(MESSAGE, poll(card).byteLength());
    assertHealthy();
    assertTrafficFlows();
  }

  private static void receive(Endpoint end) {
    end.pair()
        .postReceive(
            new ReceiveWorkRequest().wrId(1).addSge(end.region().address(), MESSAGE, end.region().lkey()));
  }

  private static void send(Endpoint end) {
    end.pair()
        .postSend(
            new SendWorkRequest()
                .wrId(2)
                .opcode(WrOpcode.SEND)
                .addSge(end.region().address(), MESSAGE, end.region().lkey()));
  }

  private static WorkCompletion poll(Endpoint end) {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    PluggedCard.await("no completion", () -> end.queue().poll(batch) == 1);
    return batch[0];
  }
}
