package org.rdma4j.rxe;

import java.util.Hashtable;
import java.util.Map;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.client.DeviceFailure;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One link, made from one factory configuration (kernel: {@code rxe.c:rxe_newlink}, {@code rxe_net.c:rxe_net_add}).
 * It is there while its device is; a configuration that cannot be carried out leaves nothing behind but its reason,
 * in the log and as a {@link DeviceFailure}. For one thread at a time.
 */
final class RxeLink {
  private static final Logger LOG = LoggerFactory.getLogger(RxeLink.class);

  private final RxeLinks links;
  private final BundleContext bundle;
  private final String pid;
  private RxeRegistration registration;
  private ServiceRegistration<DeviceFailure> failure;

  /**
   * Makes nothing yet.
   *
   * @param bundle the bundle
   * @param links all links
   * @param pid of the configuration
   */
  RxeLink(BundleContext bundle, RxeLinks links, String pid) {
    this.bundle = bundle;
    this.links = links;
    this.pid = pid;
  }

  /**
   * Carries out a configuration, the first or a changed one: other P_Keys on the device as it is, everything else by
   * a new device.
   *
   * @param properties the configuration
   */
  void update(Map<String, Object> properties) {
    if (!changeInPlace(properties)) {
      stop();
      start(properties);
    }
  }

  private boolean changeInPlace(Map<String, Object> properties) {
    try {
      return registration != null && registration.change(SettingsReader.read(properties));
    } catch (VerbsException e) {
      return false; // Whoever makes a device of it says what is wrong.
    }
  }

  private void start(Map<String, Object> properties) {
    try {
      RxeSettings settings = SettingsReader.read(properties);
      links.enter(pid, settings);
      registration = new RxeRegistration(bundle, settings, () -> links.leave(pid));
      registration.start();
      links.succeeded(pid);
    } catch (VerbsException e) {
      failed(String.valueOf(properties.get("name")), e);
    } catch (RuntimeException | Error e) {
      failed(
          String.valueOf(properties.get("name")), new VerbsException(Errno.EIO, "unexpected failure: " + e, e));
      throw e;
    }
  }

  /** The reason goes to whoever waits for the link, to him alone; else to everybody. */
  private void failed(String name, VerbsException reason) {
    registration = null;
    links.leave(pid);
    if (links.failed(pid, reason)) {
      return;
    }
    LOG.error("no device from configuration {}: {}", pid, reason.toString());
    var properties = new Hashtable<String, Object>();
    properties.put(DeviceFailure.PROPERTY_PID, pid);
    properties.put(DeviceFailure.PROPERTY_DEVICE, name);
    try {
      failure = bundle.registerService(DeviceFailure.class, () -> reason, properties);
    } catch (IllegalStateException e) {
      LOG.debug("the bundle has stopped: nobody is told why {} is not there", name, e);
    }
  }

  /** Removes the device; returns when it is gone. */
  void stop() {
    try {
      if (failure != null) {
        failure.unregister();
      }
    } catch (IllegalStateException e) {
      LOG.debug("the reason why {} made no device went with the bundle", pid, e);
    }
    failure = null;
    try {
      if (registration != null) {
        registration.close();
      }
    } finally {
      registration = null;
      links.leave(pid);
      links.ended(pid);
    }
  }
}
