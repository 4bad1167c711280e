package org.rdma4j.ib.core.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.metatype.annotations.Designate;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.internal.mad.MadLayer;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The core in its container ({@code device.c:ib_core_init}): takes in devices and clients from the service registry,
 * publishes devices there, and follows the network interfaces. When it stops all devices are removed in order.
 */
@Component(
    service = {},
    immediate = true,
    configurationPid = "org.rdma4j.ib.core",
    configurationPolicy = ConfigurationPolicy.OPTIONAL)
@Designate(ocd = CoreConfiguration.class)
public final class CoreComponent {
  private static final Logger LOG = LoggerFactory.getLogger(CoreComponent.class);

  private final ServicePublisher publisher;
  private final DeviceRegistry registry;
  private final NetdevWatch watch;
  private final Whiteboard<DeviceClient> clients;
  private final Whiteboard<IbDevice> devices;
  private final Whiteboard<VerbsTracer> tracers;
  private final MadLayer mads = new MadLayer();
  private final ServiceRegistration<Mads> madService;

  /**
   * Starts the core.
   *
   * @param bundle the bundle
   * @param configuration its configuration
   */
  @Activate
  public CoreComponent(BundleContext bundle, CoreConfiguration configuration) {
    GidManager gids = new GidManager(Netdevs::read);
    this.publisher = new ServicePublisher(bundle);
    this.registry = new DeviceRegistry(publisher, gids);
    this.watch = new NetdevWatch(gids::rescan);
    this.clients = new Whiteboard<>(bundle, DeviceClient.class, new Clients());
    this.devices = new Whiteboard<>(bundle, IbDevice.class, new Devices());
    this.tracers = new Whiteboard<>(bundle, VerbsTracer.class, new Tracers());
    configure(configuration);
    watch.start();
    tracers.open();
    registry.addClient(new ClientEntry(mads, bundle.getBundle().getSymbolicName(), Integer.MAX_VALUE, 0));
    this.madService = bundle.registerService(Mads.class, mads, null);
    clients.open();
    devices.open();
  }

  /**
   * Takes a new configuration over; what runs keeps the old one.
   *
   * @param configuration the configuration
   */
  @Modified
  public void configure(CoreConfiguration configuration) {
    registry.configure(
        new Settings(
            configuration.client_warn_millis(),
            configuration.client_limit_millis(),
            configuration.provider_warn_millis(),
            configuration.provider_limit_millis(),
            configuration.creation_sites()));
  }

  /** Removes all devices and stops. */
  @Deactivate
  public void stop() {
    madService.unregister();
    devices.close(true);
    registry.close();
    clients.close(false);
    watch.close();
    publisher.close();
    tracers.close(true);
  }

  private final class Tracers implements Whiteboard.Handler<VerbsTracer> {
    @Override
    public void added(VerbsTracer tracer, ServiceReference<VerbsTracer> reference) {
      registry.trace(tracer);
    }

    @Override
    public void removed(VerbsTracer tracer, ServiceReference<VerbsTracer> reference) {
      registry.trace(null);
    }
  }

  private final class Devices implements Whiteboard.Handler<IbDevice> {
    @Override
    public void added(IbDevice device, ServiceReference<IbDevice> reference) {
      try {
        registry.register(device);
      } catch (VerbsException e) {
        LOG.error(
            "device {} of bundle {} is not registered: {}",
            device.requestedName(),
            Whiteboard.bundleName(reference),
            e.toString(),
            e.getCause());
      }
    }

    @Override
    public void removed(IbDevice device, ServiceReference<IbDevice> reference) {
      registry.unregister(device);
    }
  }

  private final class Clients implements Whiteboard.Handler<DeviceClient> {
    private final Map<ServiceReference<DeviceClient>, ClientEntry> entries = new ConcurrentHashMap<>();

    @Override
    public void added(DeviceClient client, ServiceReference<DeviceClient> reference) {
      registry.addClient(entry(client, reference));
    }

    @Override
    public void removed(DeviceClient client, ServiceReference<DeviceClient> reference) {
      registry.removeClient(entry(client, reference));
      entries.remove(reference);
    }

    private ClientEntry entry(DeviceClient client, ServiceReference<DeviceClient> reference) {
      return entries.computeIfAbsent(
          reference,
          each ->
              new ClientEntry(
                  client, Whiteboard.bundleName(reference), Whiteboard.ranking(reference), Whiteboard.id(reference)));
    }
  }
}
