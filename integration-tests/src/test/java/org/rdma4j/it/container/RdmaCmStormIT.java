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
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.pci.PciBus;
import org.rdma4j.rdma.cm.RdmaCm;

/** Connections that are made and ended all the time, from several threads, while what they stand on goes and comes. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class RdmaCmStormIT {
  private static final int ROUNDS = Integer.getInteger("org.rdma4j.it.torture.rounds", 10);

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private final List<Dialler> diallers = new ArrayList<>();
  private ServiceTracker<RdmaCm, RdmaCm> managers;
  private Links links;
  private PluggedCard card;
  private volatile Answerer answerer;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    links.add("it0", Links.address(0));
    links.add("it1", Links.address(1));
    managers = new ServiceTracker<>(context, RdmaCm.class, null);
    managers.open();
    answerer = new Answerer(managers.waitForService(10_000));
  }

  @After
  public void cleanUp() throws Exception {
    for (Dialler each : diallers) {
      each.close();
    }
    answerer.close();
    Bundles.startAll(context);
    assertEquals(List.of(), managers.waitForService(10_000).resources());
    managers.close();
    links.removeAll();
    if (card != null) {
      card.unplug();
    }
    assertEquals(List.of(), links.names());
    assertEquals(List.of(), Links.threads("it0", "it1", "mlx5_0", "rdma_cm events"));
  }

  private void dial(String from, String to) {
    diallers.add(new Dialler(managers::getService, from, to, () -> answerer.port()));
  }

  /** Each of them makes connections, also after what has happened. */
  private void awaitWorking() {
    for (Dialler each : diallers) {
      long before = each.made();
      PluggedCard.await("no connection is made any more, " + each.failed() + " failed", () -> each.made() > before + 2);
    }
  }

  private void assertSound() {
    diallers.forEach(each -> assertEquals(List.of(), each.problems()));
    assertEquals(List.of(), answerer.problems());
  }

  @Test
  public void theProviderStopsAndStarts() throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    dial(Links.address(0), Links.address(1));
    dial(Links.address(1), Links.address(0));
    dial(Links.address(0), Links.address(0));
    awaitWorking();
    for (int i = 0; i < ROUNDS; i++) {
      provider.stop();
      assertEquals(List.of(), links.names());
      provider.start();
      awaitWorking();
    }
    assertSound();
  }

  @Test
  public void theCardIsPulledAndPluggedAgain() throws Exception {
    log.allow("WARN org.rdma4j.pci.internal.Bus .*pulled out");
    card = new PluggedCard(context, configurations);
    links.await("mlx5_0");
    dial(PluggedCard.ADDRESS, Links.address(1));
    dial(Links.address(0), Links.address(1));
    awaitWorking();
    for (int i = 0; i < ROUNDS / 2; i++) {
      PciBus bus = context.getService(context.getServiceReference(PciBus.class));
      if (i % 2 == 0) {
        bus.pull(PluggedCard.SLOT);
      }
      card.unplug();
      card = new PluggedCard(context, configurations);
      awaitWorking();
    }
    assertSound();
  }

  @Test
  public void theManagerStopsAndStarts() throws Exception {
    Bundle manager = Bundles.named(context, "org.rdma4j.rdma.cm");
    dial(Links.address(0), Links.address(1));
    dial(Links.address(1), Links.address(0));
    awaitWorking();
    for (int i = 0; i < ROUNDS; i++) {
      manager.stop();
      assertEquals(
          "nothing of it is left",
          List.of(),
          Thread.getAllStackTraces().keySet().stream()
              .map(Thread::getName)
              .filter(name -> name.equals("ib_cm") || name.equals("rdma_cm events") || name.startsWith("ib_mad"))
              .toList());
      answerer.close();
      assertEquals(List.of(), answerer.problems());
      manager.start();
      answerer = new Answerer(managers.waitForService(10_000));
      awaitWorking();
    }
    assertSound();
  }

  /** Ten thousand connections one after the other leave as much as one does. */
  @Test
  public void manyConnectionsLeaveNothing() throws Exception {
    int many = Integer.getInteger("org.rdma4j.it.connections", 10_000);
    for (int i = 0; i < 4; i++) {
      dial(Links.address(i % 2), Links.address(1 - i % 2));
    }
    for (int wanted = 500; wanted <= many; wanted += 500) {
      int next = wanted; // Each step has the whole patience: how long all take is not the matter here.
      PluggedCard.await("no more than " + made() + " connections", () -> made() >= next);
    }
    for (Dialler each : diallers) {
      each.close();
      assertEquals(0, each.failed() - (each.failed() > 0 ? 1 : 0)); // one may have been given up
    }
    assertSound();
    assertTrue("agreed to " + answerer.established(), answerer.established() >= many);
    PluggedCard.await("identifiers are left", () -> managers.getService().resources().size() == 2);
    PluggedCard.await("objects are left", () -> objects() == 0);
  }

  private long made() {
    return diallers.stream().mapToLong(Dialler::made).sum();
  }

  /** What belongs to queue pairs that were made for connections. */
  private long objects() {
    long count = 0;
    for (String name : List.of("it0", "it1")) {
      try {
        RdmaDevice device = links.await(name);
        count += Links.userPairs(device);
        count += device.resources().completionQueues().stream().filter(each -> !each.owner().kernel()).count();
        count += device.resources().memoryRegions().stream().filter(each -> !each.owner().kernel()).count();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    return count;
  }
}
