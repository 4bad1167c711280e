package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
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
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** Providers, links, and clients of all manners that come and go at the same time. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class StormIT {
  private static final int ROUNDS = Integer.getInteger("org.rdma4j.it.torture.rounds", 25);
  private static final long PATIENCE_SECONDS = 120;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private final List<ServiceRegistration<?>> registrations = Collections.synchronizedList(new ArrayList<>());
  private final List<Endpoint> ends = new ArrayList<>();
  private final CountDownLatch atTheEnd = new CountDownLatch(1);
  private Links links;
  private PluggedCard plugged;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @After
  public void cleanUp() throws Exception {
    atTheEnd.countDown();
    for (ServiceRegistration<?> each : registrations) {
      try {
        each.unregister();
      } catch (IllegalStateException e) {
        // It went in the storm.
      }
    }
    ends.forEach(Endpoint::release);
    for (Endpoint end : ends) {
      end.join();
      end.close();
    }
    Bundles.startAll(context);
    links().removeAll();
    if (plugged != null) {
      plugged.unplug();
    }
  }

  @Test
  public void twoThreadsStopAndStartTheProviderAtOnce() throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    Endpoint a = end(links().add("it0", Links.address(0)));
    Endpoint b = end(links().add("it1", Links.address(1)));
    flow(a, b);
    Callable<Void> storm =
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            provider.stop();
            provider.start();
          }
          return null;
        };
    run(List.of(storm, storm));
    a.join();
    b.join();
    assertEquals(List.of(), a.problems());
    assertEquals(List.of(), b.problems());
    provider.start();
    assertWorks();
    provider.stop();
    assertEquals(List.of(), links().names());
    assertEquals(List.of(), Links.threads("it0", "it1").stream().filter(each -> !each.startsWith("traffic")).toList());
    assertEquals(List.of(), Links.sockets(Links.address(0)));
    assertEquals(List.of(), Links.sockets(Links.address(1)));
    provider.start();
  }

  @Test
  public void twoThreadsStopAndStartABundleOfTheCardAtOnce() throws Exception {
    links().add("it0", Links.address(0));
    plugged = new PluggedCard(context, configurations);
    for (String part : List.of("mlx5.core", "mlx5.device", "mlx5.ib", "pci")) {
      String name = "org.rdma4j." + part;
      Bundle bundle = Bundles.named(context, name);
      Endpoint card = end(links().await("mlx5_0"));
      Endpoint peer = end(links().await("it0"));
      flow(card, peer);
      Callable<Void> storm =
          () -> {
            for (int i = 0; i < ROUNDS; i++) {
              bundle.stop();
              bundle.start();
            }
            return null;
          };
      run(List.of(storm, storm));
      card.join();
      assertEquals(name, List.of(), card.problems());
      peer.release(); // Its peer is gone; how long it retries is not the matter here.
      peer.join();
      bundle.start();
      Endpoint again = end(links().await("mlx5_0"));
      Endpoint peerAgain = end(links().await("it0"));
      flow(again, peerAgain);
      Endpoint.finish(again, peerAgain);
      assertEquals(name, List.of(), again.problems());
      assertTrue(name, again.succeeded() > 0);
    }
  }

  /** One makes and removes links, one stops and starts the provider, two register and unregister clients. */
  @Test
  public void linksAndClientsComeAndGoAtOnce() throws Exception {
    log.allow("configadmin: Configuration org.rdma4j.rxe~it2 .* does not exist"); // Deleted while it was looked for.
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    links().add("it0", Links.address(0));
    var always = new Books();
    registrations.add(register(context, "always", always.added(), always.removed()));
    var passing = new Books();
    Callable<Void> linksGo =
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            links().configure("it2", "lo", Links.address(2));
            configurations.getFactoryConfiguration("org.rdma4j.rxe", "it2", "?").delete();
          }
          return null;
        };
    Callable<Void> clientsGo =
        () -> {
          for (int i = 0; i < 4 * ROUNDS; i++) {
            ServiceRegistration<?> client = register(context, "passing", passing.added(), passing.removed());
            client.unregister();
          }
          return null;
        };
    Callable<Void> providerGoes =
        () -> {
          for (int i = 0; i < ROUNDS / 2; i++) {
            provider.stop();
            provider.start();
          }
          return null;
        };
    run(List.of(linksGo, clientsGo, clientsGo, providerGoes));
    passing.assertBalanced(0);
    links().await("it0");
    links().settle();
    links().removeAll();
    always.assertBalanced(0);
    links().add("it0", Links.address(0));
    links().settle();
    always.assertBalanced(1);
    links().add("it1", Links.address(1));
    assertWorks();
  }

  /** Clients that throw, block, or stop their own bundle in remove, again and again, while others behave. */
  @Test
  public void clientsMisbehaveInRemove() throws Exception {
    log.expect("ERROR .*throws.* failed in remove for it[01]");
    log.expect("WARN .*blocks.* in remove for it0 does not return; after 2000 ms it is at:");
    log.expect("WARN .*blocks.* in remove for it0 is left behind after 2500 ms");
    patience(2_000, 2_500);
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    links().add("it0", Links.address(0));
    links().add("it1", Links.address(1));
    var good = new Books();
    registrations.add(register(context, "good", good.added(), good.removed()));
    registrations.add(
        register(
            context,
            "throws",
            Context::allocatePd,
            removed -> {
              throw new IllegalStateException("no");
            }));
    ServiceRegistration<?> blocking =
        register(
            context,
            "blocks",
            Context::allocatePd,
            removed -> {
              if (removed.deviceName().equals("it0")) {
                await(atTheEnd);
              }
            });
    var last = new Books();
    registrations.add(register(context, "last", last.added(), last.removed()));
    for (int round = 0; round < 5; round++) {
      Bundle selfish = context.installBundle("selfish", empty("org.example.selfish"));
      selfish.start();
      var told = Collections.synchronizedList(new ArrayList<String>());
      register(
          selfish.getBundleContext(),
          "selfish",
          Context::allocatePd,
          removed -> {
            told.add(removed.deviceName());
            stop(selfish);
          });
      Endpoint a = end(links().await("it0"));
      Endpoint b = end(links().await("it1"));
      flow(a, b);
      provider.stop();
      a.join();
      b.join();
      assertEquals(List.of(), a.problems());
      assertEquals(List.of(), b.problems());
      assertEquals("of each device once", List.of("it0", "it1"), told.stream().sorted().toList());
      assertEquals(Bundle.RESOLVED, selfish.getState());
      selfish.uninstall();
      good.assertBalanced(0);
      last.assertBalanced(0);
      assertEquals(List.of(), links().names());
      assertEquals(List.of(), Links.sockets(Links.address(0)));
      if (round == 0) {
        blocking.unregister(); // Once is enough: it takes its time.
      }
      provider.start();
    }
    assertWorks();
  }

  /** What one client was told. */
  private static final class Books {
    private final Map<Context, Integer> present = new ConcurrentHashMap<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

    Consumer<Context> added() {
      return context -> {
        if (present.put(context, 1) != null) {
          problems.add("added twice: " + context);
        }
        try {
          context.allocatePd();
        } catch (RuntimeException e) {
          // It goes already.
        }
      };
    }

    Consumer<Context> removed() {
      return context -> {
        if (present.remove(context) == null) {
          problems.add("removed without having been added: " + context);
        }
      };
    }

    void assertBalanced(int devices) {
      assertEquals(List.of(), problems);
      assertEquals(present.keySet().toString(), devices, present.size());
    }
  }

  private void assertWorks() throws Exception {
    RdmaDevice first = links().await("it0");
    RdmaDevice second = links().await("it1");
    assertEquals(0, Links.userPairs(first));
    Endpoint a = end(first);
    Endpoint b = end(second);
    flow(a, b);
    Endpoint.finish(a, b);
    assertEquals(List.of(), a.problems());
    assertEquals(List.of(), b.problems());
    assertTrue(a.succeeded() > 0);
  }

  private static void run(List<Callable<Void>> works) throws Exception {
    List<Future<Void>> running = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(works.size());
    try {
      works.forEach(each -> running.add(threads.submit(each)));
      for (Future<Void> each : running) {
        each.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static ServiceRegistration<?> register(
      BundleContext owner, String name, Consumer<Context> onAdd, Consumer<Context> onRemove) {
    return owner.registerService(
        DeviceClient.class,
        new DeviceClient() {
          @Override
          public String name() {
            return name;
          }

          @Override
          public void add(Context added) {
            onAdd.accept(added);
          }

          @Override
          public void remove(Context removed) {
            onRemove.accept(removed);
          }
        },
        null);
  }

  /** A bundle without anything in it. */
  private static ByteArrayInputStream empty(String symbolicName) throws Exception {
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Bundle-ManifestVersion", "2");
    manifest.getMainAttributes().putValue("Bundle-SymbolicName", symbolicName);
    manifest.getMainAttributes().putValue("Import-Package", "org.rdma4j.ib.core.client,org.rdma4j.ib.core.verbs");
    var bytes = new ByteArrayOutputStream();
    new JarOutputStream(bytes, manifest).close();
    return new ByteArrayInputStream(bytes.toByteArray());
  }

  private static void stop(Bundle bundle) {
    try {
      if (bundle.getState() == Bundle.ACTIVE) { // What it stops for one device ends it for the others too.
        bundle.stop();
      }
    } catch (BundleException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Links links() {
    if (links == null) {
      links = new Links(context, configurations);
    }
    return links;
  }

  private Endpoint end(RdmaDevice device) {
    var end = new Endpoint(device);
    ends.add(end);
    return end;
  }

  private static void flow(Endpoint a, Endpoint b) throws InterruptedException {
    Endpoint.connect(a, b);
    a.start();
    b.start();
    a.awaitBusy();
    b.awaitBusy();
  }

  /** Configures the core and starts it anew with that. */
  private void patience(long warnMillis, long limitMillis) throws Exception {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put("client.warn.millis", warnMillis);
    properties.put("client.limit.millis", limitMillis);
    configurations.getConfiguration("org.rdma4j.ib.core", "?").update(properties);
    Bundle core = Bundles.named(context, "org.rdma4j.ib.core");
    core.stop();
    core.start();
  }
}
