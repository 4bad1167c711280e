package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
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
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.pci.PciBus;

/**
 * The card dies under traffic, again and again, and each time everything that was posted completes once, everybody is
 * told, nothing is left, and the device is back under its name. {@code -Dorg.rdma4j.it.torture.card.cycles=N} says how
 * often.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXTortureIT {
  private static final int CYCLES = Integer.getInteger("org.rdma4j.it.torture.card.cycles", 50);
  private static final int WARM_UP = 5;
  private static final String CARD = "mlx5_0";
  private static final String PEER = "it0";
  private static final long POLL_MILLIS = 100;

  /** As {@code TortureIT}: the JVM itself takes a block now and then; a card takes dozens. */
  private static final long FOREIGN_BLOCKS = 40;

  private static final int LOOKS = 20;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

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
    var settings = new Hashtable<String, Object>();
    settings.put("health.poll.interval", POLL_MILLIS);
    settings.put("grace.period", 0);
    configurations.getConfiguration("org.rdma4j.mlx5.core", "?").update(settings);
    Bundle core = Bundles.named(context, "org.rdma4j.mlx5.core");
    core.stop();
    core.start();
    plugged = new PluggedCard(context, configurations);
    links.add(PEER, Links.address(0));
  }

  @After
  public void cleanUp() throws Exception {
    links.removeAll();
    plugged.unplug();
    configurations.getConfiguration("org.rdma4j.mlx5.core", "?").delete();
    assertEquals(List.of(), links.names());
  }

  /** How the card dies. */
  private interface Death {
    void of(PluggedCard card) throws Exception;
  }

  private void cycle(int number, Death death) throws Exception {
    RdmaDevice device = links.await(CARD);
    assertEquals("begins anew in cycle " + number, 0, Links.userPairs(device));
    Endpoint card = new Endpoint(device);
    Endpoint peer = new Endpoint(links.await(PEER));
    try {
      Endpoint.connect(card, peer);
      card.start();
      peer.start();
      card.awaitBusy();
      peer.awaitBusy();
      death.of(plugged);
      card.join();
      peer.join();
    } finally {
      card.release();
      peer.release();
      card.join();
      peer.join();
      card.close();
      peer.close();
    }
    String where = "cycle " + number;
    assertEquals(where, List.of(), card.problems());
    assertEquals(where, List.of(), peer.problems());
    assertTrue(where, card.flushed() >= QuietPair.RECEIVES);
    assertEquals(where, 1, Collections.frequency(card.events(), AsyncEventType.DEVICE_FATAL));
    assertEquals(
        where + ": the other device keeps nothing", 0, Links.userPairs(peer.context().device()));
  }

  private Remains remains() throws Exception {
    links.await(CARD);
    links.await(PEER);
    links.settle();
    return Remains.now(context);
  }

  /** What the collector has found is freed by a thread of the JDK, for which a busy machine may have no time. */
  private void assertNothingMore(Remains before) throws Exception {
    Remains after = remains();
    for (int i = 0; i < LOOKS && after.nativeBlocks() - before.nativeBlocks() >= FOREIGN_BLOCKS; i++) {
      after = remains();
    }
    assertEquals(
        new Remains(before.threads(), before.descriptors(), before.services(), 0),
        new Remains(after.threads(), after.descriptors(), after.services(), 0));
    assertTrue(before + " then " + after, after.nativeBlocks() - before.nativeBlocks() < FOREIGN_BLOCKS);
  }

  @Test
  public void fatalErrorsUnderTraffic() throws Exception {
    log.expect("ERROR org.rdma4j.mlx5.core.internal.Health .*fatal error");
    log.expect("WARN org.rdma4j.mlx5.device.internal.Card .*asserts");
    Remains before = null;
    for (int cycle = 0; cycle < WARM_UP + CYCLES; cycle++) {
      if (cycle == WARM_UP) {
        before = remains();
      }
      cycle(cycle, card -> card.card().faults().assertFatal(1));
    }
    assertNothingMore(before);
    int all = WARM_UP + CYCLES;
    String health = Shell.run(context, "devlink health show pci/" + PluggedCard.SLOT + " reporter fw_fatal");
    assertTrue(health, health.contains("state healthy error " + all + " recover " + all));
  }

  @Test
  public void surpriseRemovalsUnderTraffic() throws Exception {
    log.expect("WARN org.rdma4j.pci.internal.Bus .*pulled out");
    Remains before = null;
    for (int cycle = 0; cycle < WARM_UP + CYCLES; cycle++) {
      if (cycle == WARM_UP) {
        before = remains();
      }
      cycle(cycle, card -> bus.pull(PluggedCard.SLOT));
      assertEquals(List.of(PEER), links.names());
      plugged.unplug();
      plugged = new PluggedCard(context, configurations);
    }
    assertNothingMore(before);
  }
}
