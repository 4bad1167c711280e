package org.rdma4j.mlx5.device.internal;

import java.io.IOException;
import java.util.Collections;
import java.util.Dictionary;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.cm.ManagedServiceFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes a card of every factory configuration, until the bundle stops. Safe for any thread. */
final class CardFactory implements ManagedServiceFactory, AutoCloseable {
  /** PID of the factory configurations of cards. */
  static final String PID = "org.rdma4j.mlx5.device";

  private static final Logger LOG = LoggerFactory.getLogger(CardFactory.class);

  /** A driver that does not return from probe holds its card up, and must not hold up the end. */
  private static final long PATIENCE_SECONDS = 60;

  private final BundleContext bundle;
  private final Tracing tracing;
  private final LinkedHashMap<String, ConfiguredCard> made = new LinkedHashMap<>(); // guarded by changing
  private final ReentrantLock changing = new ReentrantLock();
  private int buses; // guarded by changing
  private volatile boolean closed;

  CardFactory(BundleContext bundle, Tracing tracing) {
    this.bundle = bundle;
    this.tracing = tracing;
  }

  @Override
  public String getName() {
    return "Modelled ConnectX cards";
  }

  /**
   * Makes the cards that are configured by now, so that they are there when the bundle has started. Configuration Admin
   * tells of them too, some time later: what has not changed stays as it is.
   */
  void begin(ConfigurationAdmin configurations) {
    changing.lock();
    try {
      Map<String, Dictionary<String, Object>> there = find(configurations);
      there.forEach(this::updated);
      // One that was deleted meanwhile was told before it was made.
      there.keySet().removeAll(find(configurations).keySet());
      there.keySet().forEach(this::deleted);
    } catch (IOException | InvalidSyntaxException | IllegalStateException e) {
      LOG.debug("the configurations cannot be read now: they will be told", e);
    } finally {
      changing.unlock();
    }
  }

  private Map<String, Dictionary<String, Object>> find(ConfigurationAdmin configurations)
      throws IOException, InvalidSyntaxException {
    Configuration[] found =
        configurations.listConfigurations("(" + ConfigurationAdmin.SERVICE_FACTORYPID + "=" + PID + ")");
    Map<String, Dictionary<String, Object>> all = new LinkedHashMap<>();
    for (Configuration each : found == null ? new Configuration[0] : found) {
      Dictionary<String, Object> properties = each.getProperties();
      if (properties != null && isOurs(each.getBundleLocation())) {
        all.put(each.getPid(), properties);
      }
    }
    return all;
  }

  private boolean isOurs(String location) {
    return location == null || location.startsWith("?") || location.equals(bundle.getBundle().getLocation());
  }

  @Override
  public void updated(String pid, Dictionary<String, ?> configuration) {
    Map<String, Object> properties = new HashMap<>();
    for (String key : Collections.list(configuration.keys())) {
      properties.put(key, configuration.get(key));
    }
    changing.lock();
    try {
      if (!closed) {
        ConfiguredCard card = made.computeIfAbsent(pid, key -> new ConfiguredCard(bundle, tracing, key));
        if (card.update(properties)) {
          card.stop();
          if (buses > 0) {
            card.start();
          }
        }
      }
    } finally {
      changing.unlock();
    }
  }

  @Override
  public void deleted(String pid) {
    changing.lock();
    try {
      ConfiguredCard card = made.remove(pid);
      if (card != null) {
        card.stop();
      }
    } finally {
      changing.unlock();
    }
  }

  /** A bus has come: there are slots for the cards. */
  void busComes() {
    changing.lock();
    try {
      buses++;
      if (buses == 1 && !closed) {
        made.sequencedValues().forEach(ConfiguredCard::start);
      }
    } finally {
      changing.unlock();
    }
  }

  /** A bus goes, and the cards with it; returns when they are gone. */
  void busGoes() {
    changing.lock();
    try {
      buses--;
      if (buses == 0) {
        made.sequencedValues().reversed().forEach(ConfiguredCard::stop);
      }
    } finally {
      changing.unlock();
    }
  }

  /** Takes all cards back, the last first; returns when they are gone. */
  @Override
  public void close() {
    closed = true;
    if (!lock()) {
      LOG.warn("a card has been coming or going for {} s: the bundle ends without waiting for it", PATIENCE_SECONDS);
      return; // Its services end with the bundle, and that takes it out.
    }
    try {
      made.sequencedValues().reversed().forEach(ConfiguredCard::stop);
      made.clear();
    } finally {
      changing.unlock();
    }
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
