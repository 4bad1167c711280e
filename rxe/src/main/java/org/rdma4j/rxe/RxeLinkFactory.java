package org.rdma4j.rxe;

import java.io.IOException;
import java.util.Collections;
import java.util.Dictionary;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedServiceFactory;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes a link of every factory configuration, until the bundle stops. Safe for any thread. */
final class RxeLinkFactory implements ManagedServiceFactory, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RxeLinkFactory.class);

  /** A client that does not return from the addition of a device holds its link up, and must not hold up the end. */
  private static final long PATIENCE_SECONDS = 60;

  private final BundleContext bundle;
  private final RxeLinks links;
  private final LinkedHashMap<String, RxeLink> made = new LinkedHashMap<>(); // guarded by changing

  /** What was made without being told by Configuration Admin, which will tell it too; guarded by changing. */
  private final Map<String, Map<String, Object>> begun = new HashMap<>();

  private final ReentrantLock changing = new ReentrantLock();
  private volatile boolean closed;

  RxeLinkFactory(BundleContext bundle, RxeLinks links) {
    this.bundle = bundle;
    this.links = links;
  }

  @Override
  public String getName() {
    return "Software RoCE links";
  }

  /**
   * Makes the links that are configured by now, so that they are there when the bundle has started; Configuration
   * Admin would have them made some time later. To be called when this is registered already: what is deleted
   * meanwhile is not made, or goes again.
   *
   * @param configurations where the configurations are
   * @param factoryPid theirs
   */
  void begin(ConfigurationAdmin configurations, String factoryPid) {
    changing.lock();
    try {
      for (Configuration each : find(configurations, factoryPid)) {
        Dictionary<String, Object> properties = each.getProperties();
        if (properties != null && !made.containsKey(each.getPid()) && isOurs(each.getBundleLocation())) {
          begun.put(each.getPid(), copy(properties));
          updateAlone(each.getPid(), copy(properties));
        }
      }
      List<String> there = find(configurations, factoryPid).stream().map(Configuration::getPid).toList();
      Set.copyOf(made.keySet()).stream().filter(pid -> !there.contains(pid)).forEach(this::deleted);
    } catch (IOException | InvalidSyntaxException | IllegalStateException e) {
      LOG.debug("the configurations cannot be read now: they will be told", e);
    } finally {
      changing.unlock();
    }
  }

  private static List<Configuration> find(ConfigurationAdmin configurations, String factoryPid)
      throws IOException, InvalidSyntaxException {
    Configuration[] found =
        configurations.listConfigurations("(" + ConfigurationAdmin.SERVICE_FACTORYPID + "=" + factoryPid + ")");
    return found == null ? List.of() : List.of(found);
  }

  private boolean isOurs(String location) {
    return location == null || location.startsWith("?") || location.equals(bundle.getBundle().getLocation());
  }

  @Override
  public void updated(String pid, Dictionary<String, ?> configuration) {
    Map<String, Object> properties = copy(configuration);
    changing.lock();
    try {
      if (!properties.equals(begun.remove(pid))) {
        update(pid, properties);
      }
    } finally {
      changing.unlock();
    }
  }

  /** One link that fails in a way that nobody expects keeps neither the others nor the bundle from starting. */
  private void updateAlone(String pid, Map<String, Object> properties) {
    try {
      update(pid, properties);
    } catch (RuntimeException e) {
      LOG.error("unexpected failure of the link of configuration {}", pid, e);
    }
  }

  private void update(String pid, Map<String, Object> properties) {
    if (!closed) {
      made.computeIfAbsent(pid, key -> new RxeLink(bundle, links, key)).update(properties);
    }
  }

  private static Map<String, Object> copy(Dictionary<String, ?> configuration) {
    var properties = new HashMap<String, Object>();
    for (String key : Collections.list(configuration.keys())) {
      properties.put(key, configuration.get(key));
    }
    return properties;
  }

  @Override
  public void deleted(String pid) {
    changing.lock();
    try {
      begun.remove(pid);
      RxeLink link = made.remove(pid);
      if (link != null) {
        link.stop();
      }
    } finally {
      changing.unlock();
    }
  }

  /** Removes all links, the last first; returns when they are gone. */
  @Override
  public void close() {
    closed = true;
    if (!lock()) {
      LOG.warn("a link has been coming or going for {} s: the bundle ends without waiting for it", PATIENCE_SECONDS);
      return; // Its services end with the bundle, and that ends the device.
    }
    try {
      made.sequencedValues().reversed().forEach(RxeLink::stop);
      made.clear();
    } finally {
      changing.unlock();
    }
    links.failAll(new VerbsException(Errno.ENODEV, "the provider stops"));
  }

  private boolean lock() {
    try {
      return changing.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
