package org.rdma4j.ib.core.internal;

import java.util.Dictionary;
import java.util.Hashtable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.SynchronousBundleListener;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes devices as services with an object for each consumer's bundle, and closes what a bundle has opened when it
 * has stopped.
 */
final class ServicePublisher implements Publisher, SynchronousBundleListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServicePublisher.class);

  private final BundleContext bundle;
  private final Map<DeviceControl, Views> published = new ConcurrentHashMap<>();

  ServicePublisher(BundleContext bundle) {
    this.bundle = bundle;
    bundle.addBundleListener(this);
  }

  @Override
  public Runnable publish(RegisteredDevice device) {
    Views views = new Views(device.control());
    published.put(device.control(), views);
    ServiceRegistration<RdmaDevice> registration;
    try {
      registration = bundle.registerService(RdmaDevice.class, views, properties(device.control()));
    } catch (RuntimeException e) {
      published.remove(device.control());
      throw e;
    }
    return () -> {
      try {
        registration.unregister();
      } finally {
        published.remove(device.control());
      }
    };
  }

  @Override
  public void bundleChanged(BundleEvent event) {
    if (event.getType() == BundleEvent.STOPPED) {
      boolean quiet = (bundle.getBundle(0).getState() & Bundle.STOPPING) != 0; // Then all leave everything.
      published.values().forEach(each -> each.close(event.getBundle(), quiet));
    }
  }

  @Override
  public void close() {
    bundle.removeBundleListener(this);
  }

  private static Dictionary<String, Object> properties(DeviceControl control) {
    RdmaDevice device = control.view("?");
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(RdmaDevice.PROPERTY_DEVICE, device.name());
    properties.put(RdmaDevice.PROPERTY_INDEX, device.index());
    properties.put(RdmaDevice.PROPERTY_NODE_GUID, device.nodeGuid().toString());
    properties.put(RdmaDevice.PROPERTY_NODE_TYPE, device.attributes().nodeType().name());
    properties.put(RdmaDevice.PROPERTY_TRANSPORT, device.attributes().transport());
    properties.put(RdmaDevice.PROPERTY_LINK_LAYER, device.port(1).linkLayer().text());
    properties.put(RdmaDevice.PROPERTY_DRIVER, device.driver());
    String netdev = device.netdev(1);
    if (netdev != null) {
      properties.put(RdmaDevice.PROPERTY_NETDEV, netdev);
    }
    if (control.parent() != null) {
      properties.put(RdmaDevice.PROPERTY_PARENT, control.parent());
    }
    return properties;
  }

  /** The consumers of one device. */
  private static final class Views implements ServiceFactory<RdmaDevice> {
    private final DeviceControl control;
    private final Map<Bundle, RdmaDevice> views = new ConcurrentHashMap<>();

    Views(DeviceControl control) {
      this.control = control;
    }

    @Override
    public RdmaDevice getService(Bundle consumer, ServiceRegistration<RdmaDevice> registration) {
      return views.computeIfAbsent(consumer, each -> control.view(String.valueOf(each.getSymbolicName())));
    }

    /** What was opened stays open until the bundle stops or the device goes. */
    @Override
    public void ungetService(Bundle consumer, ServiceRegistration<RdmaDevice> registration, RdmaDevice service) {}

    void close(Bundle consumer, boolean quiet) {
      RdmaDevice view = views.remove(consumer);
      if (view != null) {
        if (!quiet) {
          control
              .leftOpen(view, true)
              .forEach(each -> LOG.warn("bundle {} stopped and left open: {}", consumer.getSymbolicName(), each));
        }
        control.close(view);
      }
    }
  }
}
