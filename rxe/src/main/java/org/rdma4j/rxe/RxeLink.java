package org.rdma4j.rxe;

import java.util.Map;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.metatype.annotations.Designate;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One link, made from one factory configuration (kernel: {@code rxe.c:rxe_newlink}, {@code rxe_net.c:rxe_net_add}).
 * It is there while its device is; a configuration that cannot be carried out leaves nothing behind but its reason,
 * in the log and as the failure of this component.
 */
@Component(
    name = RxeLinks.FACTORY_PID,
    service = {},
    immediate = true,
    configurationPid = RxeLinks.FACTORY_PID,
    configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = RxeConfiguration.class, factory = true)
public final class RxeLink {
  private static final Logger LOG = LoggerFactory.getLogger(RxeLink.class);

  private final RxeLinks links;
  private final BundleContext bundle;
  private final String pid;
  private Map<String, Object> properties;
  private RxeRegistration registration;

  /**
   * Keeps what the link is made of.
   *
   * @param bundle the bundle
   * @param links all links
   * @param properties the configuration
   */
  @Activate
  public RxeLink(BundleContext bundle, @Reference RxeLinks links, Map<String, Object> properties) {
    this.bundle = bundle;
    this.links = links;
    this.properties = properties;
    this.pid = String.valueOf(properties.get(Constants.SERVICE_PID));
  }

  /**
   * Makes the device and registers it.
   *
   * @throws NoDeviceException why there is no device, for those who look at the component; where somebody waits for
   *     the device, the reason goes to him alone
   */
  @Activate
  public void start() {
    try {
      RxeSettings settings = SettingsReader.read(properties);
      links.enter(pid, settings);
      registration = new RxeRegistration(bundle, settings, () -> links.leave(pid));
      registration.start();
      links.succeeded(pid);
    } catch (VerbsException e) {
      registration = null;
      links.leave(pid);
      if (!links.failed(pid, e)) {
        LOG.error("no device from configuration {}: {}", pid, e.toString());
        throw new NoDeviceException(e);
      }
    } catch (RuntimeException | Error e) {
      registration = null;
      links.leave(pid);
      links.failed(pid, new VerbsException(Errno.EIO, "unexpected failure: " + e, e));
      throw e;
    }
  }

  /**
   * Carries a changed configuration out: other P_Keys on the device as it is, everything else by a new device.
   *
   * @param changed the configuration
   * @throws NoDeviceException as {@link #start}; the old device is gone then
   */
  @Modified
  public void change(Map<String, Object> changed) {
    properties = changed;
    if (!changeInPlace()) {
      stop();
      registration = null;
      start();
    }
  }

  private boolean changeInPlace() {
    try {
      return registration != null && registration.change(SettingsReader.read(properties));
    } catch (VerbsException e) {
      return false; // Whoever makes a device of it says what is wrong.
    }
  }

  /** Removes the device; returns when it is gone. */
  @Deactivate
  public void stop() {
    try {
      if (registration != null) {
        registration.close();
      }
    } finally {
      links.leave(pid);
      links.ended(pid);
    }
  }
}
