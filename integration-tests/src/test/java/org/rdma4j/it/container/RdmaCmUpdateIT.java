package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
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
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleWiring;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.ConfigurationAdmin;

/**
 * The connection manager is updated while a bundle makes connections through it, and the bundles that use it are wired
 * anew. Nothing here may use a class of the connection manager, or this bundle would be wired anew, too.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class RdmaCmUpdateIT {
  private static final int ROUNDS = Integer.getInteger("org.rdma4j.it.torture.rounds", 10);
  private static final String CLASSES = "/org/rdma4j/it/container";
  private static final List<String> PATTERNS = List.of("Consumer*.class", "Answerer*.class", "Dialler*.class");
  private static final String IMPORTS =
      "org.osgi.framework,org.osgi.util.tracker,org.rdma4j.ib.core.verbs,org.rdma4j.rdma.cm";

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private Links links;
  private Bundle consumer;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    links.add("it0", Links.address(0));
    links.add("it1", Links.address(1));
    consumer = context.installBundle("consumer", consumer());
    consumer.start();
  }

  @After
  public void cleanUp() throws Exception {
    consumer.uninstall();
    Bundles.startAll(context);
    links.removeAll();
    assertEquals(List.of(), Links.threads("it0", "it1", "rdma_cm events", "dials", "answers"));
  }

  private static ByteArrayInputStream consumer() throws Exception {
    var manifest = new Manifest();
    Attributes headers = manifest.getMainAttributes();
    headers.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    headers.putValue(Constants.BUNDLE_MANIFESTVERSION, "2");
    headers.putValue(Constants.BUNDLE_SYMBOLICNAME, "org.example.consumer");
    headers.putValue(Constants.BUNDLE_ACTIVATOR, "org.rdma4j.it.container.Consumer");
    headers.putValue(Constants.IMPORT_PACKAGE, IMPORTS);
    headers.putValue(Consumer.ADDRESSES, Links.address(0) + " " + Links.address(1));
    var bytes = new ByteArrayOutputStream();
    try (var jar = new JarOutputStream(bytes, manifest)) {
      for (String pattern : PATTERNS) {
        var entries = FrameworkUtil.getBundle(RdmaCmUpdateIT.class).findEntries(CLASSES, pattern, false);
        for (URL each : Collections.list(entries)) {
          jar.putNextEntry(new JarEntry(each.getPath().substring(1)));
          try (var in = each.openStream()) {
            in.transferTo(jar);
          }
        }
      }
    }
    return new ByteArrayInputStream(bytes.toByteArray());
  }

  /** How many connections were made; what else it says is wrong. */
  private long made() {
    try {
      for (ServiceReference<?> each : context.getServiceReferences(Supplier.class, null)) {
        if (consumer.equals(each.getBundle())) {
          Object said = ((Supplier<?>) context.getService(each)).get();
          context.ungetService(each);
          assertTrue(said.toString(), said instanceof Long);
          return (Long) said;
        }
      }
      return 0;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitWorking() {
    long before = made();
    PluggedCard.await("no connection is made any more", () -> made() > before + 4);
  }

  private void refresh(Bundle bundle) throws InterruptedException {
    var refreshed = new CountDownLatch(1);
    context
        .getBundle(0)
        .adapt(FrameworkWiring.class)
        .refreshBundles(List.of(bundle), event -> refreshed.countDown());
    assertTrue(refreshed.await(60, TimeUnit.SECONDS));
  }

  @Test
  public void theManagerIsUpdatedUnderConnections() throws Exception {
    Bundle manager = Bundles.named(context, "org.rdma4j.rdma.cm");
    List<WeakReference<ClassLoader>> old = new ArrayList<>();
    awaitWorking();
    for (int round = 0; round < ROUNDS; round++) {
      old.add(new WeakReference<>(manager.adapt(BundleWiring.class).getClassLoader()));
      manager.update();
      refresh(manager);
      assertEquals(Bundle.ACTIVE, manager.getState());
      assertEquals(Bundle.ACTIVE, consumer.getState());
      awaitWorking();
    }
    consumer.stop();
    assertEquals(0, Links.userPairs(links.await("it0")) + Links.userPairs(links.await("it1")));
    boolean collected = Remains.collect(() -> held(old) <= 1); // A thread that waits may know what it did last.
    assertTrue(held(old) + " held of " + old.size() + ", threads " + Thread.getAllStackTraces().keySet(), collected);
  }

  private static long held(List<WeakReference<ClassLoader>> loaders) {
    return loaders.stream().filter(each -> !each.refersTo(null)).count();
  }
}
