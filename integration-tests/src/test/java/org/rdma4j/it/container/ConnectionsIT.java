package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCm;

/**
 * Connections by address, many of them, while nothing goes wrong; and while providers and the connection manager itself
 * stop and come back. {@code -Dorg.rdma4j.it.connections=N} says how many.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectionsIT {
  private static final int CONNECTIONS = Integer.getInteger("org.rdma4j.it.connections", 500);
  private static final int WARM_UP = 50;
  private static final int ROUNDS = 10;
  private static final int THREADS = 3;
  private static final long SERVICE_MILLIS = 30_000;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private Links links;
  private PluggedCard card;
  private ServiceTracker<RdmaCm, RdmaCm> managers;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    managers = new ServiceTracker<>(context, RdmaCm.class, null);
    managers.open();
    links.add("it0", Links.address(0));
    links.add("it1", Links.address(1));
  }

  @After
  public void cleanUp() throws Exception {
    managers.close();
    Bundles.startAll(context);
    links.removeAll();
    if (card != null) {
      card.unplug();
    }
    assertEquals(List.of(), links.names());
  }

  private RdmaCm manager() throws InterruptedException {
    RdmaCm manager = managers.waitForService(SERVICE_MILLIS);
    assertNotNull("no connection manager", manager);
    return manager;
  }

  /** What there is of connections and of the devices' objects. */
  private Map<ResourceType, Integer> objects() throws Exception {
    Map<ResourceType, Integer> counts = new EnumMap<>(ResourceType.class);
    for (String name : links.names()) {
      RdmaDevice device = links.await(name);
      for (ResourceType each : ResourceType.values()) {
        counts.merge(each, device.resources().count(each), Integer::sum);
      }
    }
    counts.put(ResourceType.CM_ID, manager().resources().size());
    return counts;
  }

  private void comeAndGo(String from, String to) throws Exception {
    try (ConnectionServer server = new ConnectionServer(manager());
        Connector connector = new Connector(manager(), from, to, server.port())) {
      for (int i = 0; i < WARM_UP; i++) {
        connector.run();
      }
      awaitSame(null);
      Map<ResourceType, Integer> before = objects();
      int threads = Thread.activeCount();
      for (int i = 0; i < CONNECTIONS; i++) {
        connector.run();
      }
      awaitSame(before);
      assertTrue(threads + " threads, then " + Thread.activeCount(), Thread.activeCount() <= threads + 2);
      assertEquals(List.of(), server.problems());
      assertEquals(WARM_UP + CONNECTIONS, server.established());
    }
    assertEquals(List.of(), manager().resources());
  }

  /** Until the server has heard of the last end; what belongs to listener and devices stays. */
  private void awaitSame(Map<ResourceType, Integer> expected) {
    PluggedCard.await(
        "connections stay",
        () -> {
          try {
            return expected == null
                ? manager().resources().stream().allMatch(each -> each.qpNumber() == 0)
                : objects().equals(expected);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  public void connectionsBetweenTwoDevicesComeAndGo() throws Exception {
    comeAndGo(Links.address(0), Links.address(1));
  }

  @Test
  public void connectionsBetweenProvidersComeAndGo() throws Exception {
    card = new PluggedCard(context, configurations);
    links.await("mlx5_0");
    comeAndGo(Links.address(0), PluggedCard.ADDRESS);
    comeAndGo(PluggedCard.ADDRESS, Links.address(0));
  }

  /** Threads that make connections as fast as they can, and do not mind what stops one. */
  private final class Storm {
    private final AtomicLong made = new AtomicLong();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();
    private volatile int port;
    private volatile boolean stopping;

    Storm(int port) {
      this.port = port;
      for (int i = 0; i < THREADS; i++) {
        threads.add(Thread.ofPlatform().name("connections " + i).start(this::work));
      }
    }

    private void work() {
      while (!stopping) {
        RdmaCm manager = managers.getService();
        if (manager == null) {
          LockSupport.parkNanos(PAUSE_NANOS);
          continue;
        }
        try (Connector connector = new Connector(manager, Links.address(0), Links.address(1), port)) {
          while (!stopping) {
            connector.run();
            made.incrementAndGet();
          }
        } catch (Connector.Stopped e) {
          if (e.getMessage().startsWith("no ") || e.getMessage().startsWith("the message")) {
            problems.add(e.toString());
          }
          LockSupport.parkNanos(PAUSE_NANOS);
        } catch (VerbsException e) {
          LockSupport.parkNanos(PAUSE_NANOS); // The connection manager goes.
        } catch (RuntimeException e) {
          problems.add(e.toString());
        }
      }
    }

    /** Waits until connections are made again. */
    void awaitWorking() {
      long before = made.get();
      PluggedCard.await("no connections " + problems, () -> made.get() > before + THREADS || !problems.isEmpty());
    }

    /** May be called again. */
    void end() throws InterruptedException {
      stopping = true;
      for (Thread each : threads) {
        each.join();
      }
    }
  }

  @Test
  public void aProviderStopsAndStartsUnderConnections() throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    ConnectionServer server = new ConnectionServer(manager());
    Storm storm = new Storm(server.port());
    try {
      for (int round = 0; round < ROUNDS; round++) {
        storm.awaitWorking();
        provider.stop();
        assertEquals(List.of(), links.names());
        assertEquals(List.of(), Links.sockets(Links.address(0)));
        provider.start();
      }
      storm.awaitWorking();
      storm.end();
      assertEquals(List.of(), storm.problems);
      assertEquals(List.of(), server.problems());
      awaitSame(null);
    } finally {
      storm.end();
      server.close();
    }
    assertNothingLeft();
  }

  private void assertNothingLeft() throws Exception {
    assertEquals(List.of(), manager().resources());
    assertEquals(0, Links.userPairs(links.await("it0")) + Links.userPairs(links.await("it1")));
  }

  @Test
  public void theConnectionManagerStopsAndStartsUnderConnections() throws Exception {
    Bundle bundle = Bundles.named(context, "org.rdma4j.rdma.cm");
    ConnectionServer server = new ConnectionServer(manager());
    Storm storm = new Storm(server.port());
    try {
      for (int round = 0; round < ROUNDS; round++) {
        storm.awaitWorking();
        bundle.stop();
        server.close();
        assertEquals(0, Links.userPairs(links.await("it0")) + Links.userPairs(links.await("it1")));
        assertEquals(List.of(), Links.threads("ib_cm", "ib_mad"));
        bundle.start();
        server = new ConnectionServer(manager());
        storm.port = server.port();
      }
      storm.awaitWorking();
      storm.end();
      assertEquals(List.of(), storm.problems);
    } finally {
      storm.end();
      server.close();
    }
    assertNothingLeft();
  }
}
