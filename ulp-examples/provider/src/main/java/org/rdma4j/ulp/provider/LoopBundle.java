package org.rdma4j.ulp.provider;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;

/**
 * Makes devices when it is told to: {@code rdma link add loop0 type loop netdev lo}. A device is a service {@link
 * IbDevice}; the core sees it come and go. When the bundle stops, the framework takes back what is still registered,
 * and that is an orderly removal too.
 */
public final class LoopBundle implements BundleActivator, LinkOperations {
  private final Map<String, LoopDevice> devices = new ConcurrentHashMap<>();
  private final Map<String, ServiceRegistration<IbDevice>> registrations = new ConcurrentHashMap<>();
  private final Wire wire = new Wire();
  private BundleContext bundle;

  /** For the framework. */
  public LoopBundle() {}

  @Override
  public void start(BundleContext context) {
    bundle = context;
    context.registerService(LinkOperations.class, this, null);
  }

  @Override
  public void stop(BundleContext context) {
    registrations.values().forEach(ServiceRegistration::unregister);
    registrations.clear();
    devices.clear();
  }

  @Override
  public String type() {
    return "loop";
  }

  @Override
  public void newLink(String name, String netdev, String address) {
    LoopDevice device = new LoopDevice(name, existing(netdev), address(address), wire);
    if (devices.putIfAbsent(name, device) != null) {
      throw new VerbsException(Errno.EEXIST, "there is a link " + name + " already");
    }
    ServiceRegistration<IbDevice> registration = bundle.registerService(IbDevice.class, device, null);
    VerbsException failure = device.registrationFailure();
    if (failure != null) {
      registration.unregister();
      devices.remove(name);
      throw failure;
    }
    registrations.put(name, registration);
  }

  @Override
  public void deleteLink(String name) {
    ServiceRegistration<IbDevice> registration = registrations.remove(name);
    if (registration == null) {
      throw new VerbsException(Errno.ENODEV, "there is no link " + name + " of type loop");
    }
    registration.unregister(); // Returns when the device is gone.
    devices.remove(name);
  }

  private static String existing(String netdev) {
    try {
      if (netdev != null && NetworkInterface.getByName(netdev) != null) {
        return netdev;
      }
    } catch (SocketException e) {
      throw new VerbsException(Errno.EIO, "the network interfaces cannot be read", e);
    }
    throw new VerbsException(Errno.ENODEV, "there is no network interface " + netdev);
  }

  private static Gid address(String text) {
    try {
      return text == null ? null : Gid.of(InetAddress.getByName(text));
    } catch (UnknownHostException e) {
      throw new VerbsException(Errno.EINVAL, text + " is no address", e);
    }
  }
}
