package org.rdma4j.it.container;

import static org.junit.Assert.assertNotNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedService;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** Links of a test, made and removed through Configuration Admin as everybody does it, and the devices they make. */
final class Links {
  private static final String FACTORY_PID = "org.rdma4j.rxe";
  private static final String BARRIER_PID = "org.rdma4j.it.barrier";
  private static final long PATIENCE_MILLIS = 30_000;

  private final BundleContext context;
  private final ConfigurationAdmin configurations;
  private final String factoryPid;

  Links(BundleContext context, ConfigurationAdmin configurations) {
    this(context, configurations, FACTORY_PID);
  }

  /** Links of another provider. */
  Links(BundleContext context, ConfigurationAdmin configurations, String factoryPid) {
    this.context = context;
    this.configurations = configurations;
    this.factoryPid = factoryPid;
  }

  /** A loopback address that no other test on the machine uses at the same time. */
  static String address(int number) {
    long pid = ProcessHandle.current().pid();
    return "127." + (100 + number) + "." + pid / 250 % 250 + "." + (pid % 250 + 1);
  }

  /** Configures a link on the loopback interface and waits for its device. */
  RdmaDevice add(String name, String address) throws Exception {
    configure(name, "lo", address);
    return await(name);
  }

  /** Configures a link without waiting for anything. */
  void configure(String name, String netdev, String address) throws IOException {
    configure(name, name, netdev, address);
  }

  /** Configures a link under a PID that has not its name. */
  void configure(String pid, String name, String netdev, String address) throws IOException {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put("name", name);
    properties.put("netdev", netdev);
    properties.put("addr", address);
    configurations.getFactoryConfiguration(factoryPid, pid, "?").update(properties);
  }

  /** Deletes the configuration and waits until the device is gone. */
  void remove(String name) throws Exception {
    configurations.getFactoryConfiguration(factoryPid, name, "?").delete();
    awaitGone(name);
  }

  /** Removes all links there are. */
  void removeAll() throws Exception {
    Configuration[] found = configurations.listConfigurations("(service.factoryPid=" + factoryPid + ")");
    for (Configuration each : found == null ? new Configuration[0] : found) {
      String name = (String) each.getProperties().get("name");
      each.delete();
      awaitGone(name);
    }
  }

  /** Waits for a device. */
  RdmaDevice await(String name) throws Exception {
    var tracker = new ServiceTracker<RdmaDevice, RdmaDevice>(context, context.createFilter(filter(name)), null);
    tracker.open();
    try {
      RdmaDevice device = tracker.waitForService(PATIENCE_MILLIS);
      assertNotNull("no device " + name, device);
      return device;
    } finally {
      tracker.close();
    }
  }

  /** Waits until there is no device of that name and all that belonged to its link has been given back. */
  void awaitGone(String name) throws Exception {
    var gone = new CountDownLatch(1);
    ServiceListener listener =
        event -> {
          if (event.getType() == ServiceEvent.UNREGISTERING) {
            gone.countDown();
          }
        };
    context.addServiceListener(listener, filter(name));
    try {
      if (names().contains(name) && !gone.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new AssertionError("device " + name + " does not go");
      }
    } finally {
      context.removeServiceListener(listener);
    }
    settle();
  }

  /**
   * Waits until every change of a configuration so far has been carried out: they are delivered one after the other,
   * and so is what a newcomer is told.
   */
  void settle() throws Exception {
    var delivered = new CountDownLatch(1);
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(Constants.SERVICE_PID, BARRIER_PID);
    ManagedService barrier = nothing -> delivered.countDown();
    ServiceRegistration<?> registration = context.registerService(ManagedService.class, barrier, properties);
    try {
      if (!delivered.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new AssertionError("configurations are not delivered");
      }
    } finally {
      registration.unregister();
    }
  }

  /** The devices there are. */
  List<String> names() {
    try {
      var names = new TreeSet<String>();
      for (var reference : context.getServiceReferences(RdmaDevice.class, null)) {
        names.add((String) reference.getProperty(RdmaDevice.PROPERTY_DEVICE));
      }
      return List.copyOf(names);
    } catch (InvalidSyntaxException e) {
      throw new AssertionError(e);
    }
  }

  /** UDP sockets that are bound to an address of this test's, from the kernel's tables. */
  static List<String> sockets(String address) throws IOException {
    String[] bytes = address.split("\\.");
    var hex = new StringBuilder();
    for (int i = 3; i >= 0; i--) {
      hex.append(String.format("%02X", Integer.parseInt(bytes[i])));
    }
    var found = new ArrayList<String>();
    for (String table : List.of("/proc/net/udp", "/proc/net/udp6")) {
      Files.readAllLines(Path.of(table), StandardCharsets.US_ASCII).stream()
          .filter(line -> line.contains(" " + hex + ":") || line.contains("FFFF0000" + hex + ":"))
          .forEach(found::add);
    }
    return found;
  }

  /** Threads that work for devices; those that only deliver the configuration carry its name for a while. */
  static List<String> threads(String... devices) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(thread -> !thread.startsWith("CM "))
        .filter(thread -> List.of(devices).stream().anyMatch(thread::contains))
        .sorted()
        .toList();
  }

  /** Queue pairs that somebody has opened the device for; a port may have one of the core's. */
  static long userPairs(RdmaDevice device) {
    return device.resources().queuePairs().stream().filter(each -> !each.owner().kernel()).count();
  }

  private static String filter(String name) {
    return "(&(objectClass=" + RdmaDevice.class.getName() + ")(" + RdmaDevice.PROPERTY_DEVICE + "=" + name + "))";
  }
}
