package org.rdma4j.tools.rdma;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/**
 * Watches devices come and go as services, and what happens to those that are there as a client of each. Listeners are
 * called by the threads of the container and of the core, several at a time.
 */
final class Monitor {
  /**
   * Something that happened.
   *
   * @param type its name, such as {@code REGISTER}
   * @param index the device's index
   * @param device the device's name
   * @param port the port, or 0
   * @param netdevIndex the index of the network interface, or 0
   * @param netdev the name of the network interface, or null
   */
  record Event(String type, int index, String device, int port, int netdevIndex, String netdev) {
    /** Prints the event as an item of a list. */
    void print(Report report) {
      report.startItem();
      report.word("event_type", "%s\t", "[" + type + "]");
      report.number("rdma_index", "dev %d", index);
      report.word("rdma_dev", " %s", device);
      if (port != 0) {
        report.number("port", " port %d", port);
      }
      if (netdev != null) {
        report.number("netdev_idx", " netdev %d", netdevIndex);
        report.word("netdev_name", " %s", netdev);
      }
      report.endItem();
    }
  }

  private final Consumer<Event> listener;
  private final ToIntFunction<String> netdevIndex;
  private final Map<Context, Consumer<AsyncEvent>> handlers = new HashMap<>();
  private final ServiceTracker<RdmaDevice, RdmaDevice> devices;
  private final ServiceRegistration<DeviceClient> client;
  private volatile boolean started;

  Monitor(BundleContext context, ToIntFunction<String> netdevIndex, Consumer<Event> listener) {
    this.listener = listener;
    this.netdevIndex = netdevIndex;
    devices =
        new ServiceTracker<>(context, RdmaDevice.class, null) {
          @Override
          public RdmaDevice addingService(ServiceReference<RdmaDevice> reference) {
            RdmaDevice device = super.addingService(reference);
            if (device != null && started) {
              came(device);
            }
            return device;
          }

          @Override
          public void removedService(ServiceReference<RdmaDevice> reference, RdmaDevice device) {
            if (started) {
              listener.accept(new Event("UNREGISTER", device.index(), device.name(), 0, 0, null));
            }
            super.removedService(reference, device);
          }
        };
    // What is there already is no news.
    devices.open();
    started = true;
    client = context.registerService(DeviceClient.class, new Watcher(), null);
  }

  /** Ends the watching. */
  void close() {
    started = false;
    client.unregister();
    devices.close();
  }

  private void came(RdmaDevice device) {
    listener.accept(new Event("REGISTER", device.index(), device.name(), 0, 0, null));
    for (int port = 1; port <= device.portCount(); port++) {
      String netdev = device.netdev(port);
      if (netdev != null) {
        int index = netdevIndex.applyAsInt(netdev);
        listener.accept(new Event("NETDEV_ATTACH", device.index(), device.name(), port, index, netdev));
      }
    }
  }

  private void happened(Context context, AsyncEvent event) {
    // The end of a device is told by its service.
    if (event.type() != AsyncEventType.DEVICE_FATAL) {
      listener.accept(
          new Event(event.type().name(), context.device().index(), context.deviceName(), event.port(), 0, null));
    }
  }

  /** The client through which events of ports and GID tables come. */
  private final class Watcher implements DeviceClient {
    @Override
    public String name() {
      return "rdma monitor";
    }

    @Override
    public void add(Context context) {
      Consumer<AsyncEvent> handler = event -> happened(context, event);
      synchronized (handlers) {
        handlers.put(context, handler);
      }
      context.addAsyncEventHandler(handler);
    }

    @Override
    public void remove(Context context) {
      synchronized (handlers) {
        Consumer<AsyncEvent> handler = handlers.remove(context);
        if (handler != null) {
          context.removeAsyncEventHandler(handler);
        }
      }
    }
  }
}
