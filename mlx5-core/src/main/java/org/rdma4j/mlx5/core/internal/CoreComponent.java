package org.rdma4j.mlx5.core.internal;

import java.util.Dictionary;
import java.util.Hashtable;
import java.util.Map;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.metatype.annotations.Designate;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.pci.PciDriver;

/** The driver in its container: offers itself to the bus, and its cards to the drivers of their parts. */
@Component(
    service = {},
    immediate = true,
    configurationPid = "org.rdma4j.mlx5.core",
    configurationPolicy = ConfigurationPolicy.OPTIONAL)
@Designate(ocd = CoreConfiguration.class)
public final class CoreComponent implements AuxiliaryPublisher {
  private final BundleContext bundle;
  private final ServiceRegistration<PciDriver> registration;

  /**
   * Starts the driver; it is registered here, so that nobody who looks at a card from its probe waits for this
   * component to be active.
   *
   * @param bundle the bundle
   * @param configuration the settings
   */
  @Activate
  public CoreComponent(BundleContext bundle, CoreConfiguration configuration) {
    this.bundle = bundle;
    CoreDriver driver =
        new CoreDriver(
            this,
            Map.of(
                DeviceParameter.IO_EQ_SIZE, configuration.io_eq_size(),
                DeviceParameter.EVENT_EQ_SIZE, configuration.event_eq_size(),
                DeviceParameter.ENABLE_ROCE, configuration.enable_roce() ? 1 : 0,
                DeviceParameter.ENABLE_RDMA, configuration.enable_rdma() ? 1 : 0),
            configuration.grace_period());
    this.registration = bundle.registerService(PciDriver.class, driver, null);
  }

  /** Gives all cards back. */
  @Deactivate
  public void stop() {
    registration.unregister();
  }

  @Override
  public Runnable publish(AuxiliaryDevice device) {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(AuxiliaryDevice.NAME, device.name());
    properties.put(AuxiliaryDevice.KIND, AuxiliaryDevice.RDMA);
    properties.put(AuxiliaryDevice.PCI_ADDRESS, device.device().name());
    ServiceRegistration<?> offer = bundle.registerService(AuxiliaryDevice.class, device, properties);
    return offer::unregister;
  }

  @Override
  public Runnable publish(Mlx5Device device) {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(AuxiliaryDevice.PCI_ADDRESS, device.name());
    ServiceRegistration<?> offer = bundle.registerService(Mlx5Device.class, device, properties);
    return offer::unregister;
  }
}
