package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
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
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.pci.PciBus;

/** The device of a card beside one of the other provider: traffic between them, and all ways in which the card goes. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXVerbsIT {
  private static final String CARD = "mlx5_0";
  private static final String PEER = "it0";

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  private final List<Endpoint> ends = new ArrayList<>();
  private PluggedCard plugged;
  private Links links;
  private Endpoint card;
  private Endpoint peer;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    plugged = new PluggedCard(context, configurations);
    links.add(PEER, Links.address(0));
    flow();
  }

  private void flow() throws Exception {
    card = end(links.await(CARD));
    peer = end(links.await(PEER));
    Endpoint.connect(card, peer);
    card.start();
    peer.start();
    card.awaitBusy();
    peer.awaitBusy();
  }

  private Endpoint end(RdmaDevice device) {
    Endpoint end = new Endpoint(device);
    ends.add(end);
    return end;
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
    assertEquals(List.of(), links.names());
  }

  private static void assertSound(Endpoint... ends) {
    for (Endpoint end : ends) {
      assertEquals(List.of(), end.problems());
      assertTrue(end.succeeded() > 0);
    }
  }

  /** The card's side has ended by itself, the peer's retries run out. */
  private void assertFlushed() throws Exception {
    card.join();
    peer.join();
    assertSound(card, peer);
    assertTrue("flushed " + card.flushed(), card.flushed() >= QuietPair.RECEIVES);
    assertTrue(card.events().toString(), card.events().contains(AsyncEventType.DEVICE_FATAL));
    assertEquals(List.of(PEER), links.names().stream().filter(PEER::equals).toList());
  }

  @Test
  public void trafficFlowsToTheOtherProvider() throws Exception {
    Endpoint.finish(card, peer);
    assertSound(card, peer);
    assertEquals(0, card.flushed() + peer.flushed());
  }

  @Test
  public void theCardIsPulledOutUnderTraffic() throws Exception {
    log.expect("WARN org.rdma4j.pci.internal.Bus .*pulled out");
    bus.pull(PluggedCard.SLOT);
    assertEquals(List.of(PEER), links.names());
    assertFlushed();
  }

  @Test
  public void theProviderStopsAndStarts() throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.mlx5.ib");
    provider.stop();
    assertEquals("the device goes before stop returns", List.of(PEER), links.names());
    assertFlushed();
    provider.start();
    flow();
    Endpoint.finish(card, peer);
    assertSound(card, peer);
  }

  @Test
  public void aFatalErrorIsRecoveredFrom() throws Exception {
    log.allow("ERROR org.rdma4j.mlx5.core.internal.Health .*fatal error");
    log.allow("WARN org.rdma4j.mlx5.device.internal.Card .*asserts");
    plugged.device().gracePeriod(0);
    plugged.card().faults().assertFatal(1);
    assertFlushed();
    PluggedCard.await("not recovered", () -> links.names().contains(CARD));
    flow();
    Endpoint.finish(card, peer);
    assertSound(card, peer);
  }
}
