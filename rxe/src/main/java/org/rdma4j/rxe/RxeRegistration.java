package org.rdma4j.rxe;

import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.UdpLinkConfig;
import org.rdma4j.roce.link.UdpLinks;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device in the service registry, where the core finds it. A device instance serves once: when the core that had it
 * stops, a new instance takes its place and waits for the next core. When the network interface vanishes the device
 * goes, as in {@code rxe_net.c:rxe_notify}. No service is registered or unregistered under the lock.
 */
final class RxeRegistration {
  private static final Logger LOG = LoggerFactory.getLogger(RxeRegistration.class);

  private final BundleContext bundle;
  private final Runnable whenLost;
  private volatile RxeSettings settings;
  private RxeDevice device; // this and the following: guarded by this
  private List<ServiceRegistration<?>> services;
  private Thread renewal;
  private boolean closed;

  /**
   * Makes nothing yet.
   *
   * @param bundle the bundle
   * @param settings what the device is made of
   * @param whenLost told when the device is gone for good though nobody closed this
   */
  RxeRegistration(BundleContext bundle, RxeSettings settings, Runnable whenLost) {
    this.bundle = bundle;
    this.settings = settings;
    this.whenLost = whenLost;
  }

  /**
   * Changes what can be changed while the device is there: its P_Keys, where there are as many as before.
   *
   * @param wanted the new settings
   * @return false where the device has to be made anew for them; nothing has changed then
   */
  boolean change(RxeSettings wanted) {
    RxeDevice which;
    synchronized (this) {
      if (device == null
          || wanted.pkeys().size() != settings.pkeys().size()
          || !wanted.withPkeys(settings.pkeys()).equals(settings)) {
        return false;
      }
      if (wanted.equals(settings)) {
        return true;
      }
      which = device;
      settings = wanted;
    }
    LOG.info("{} has the P_Keys {} from now on", wanted.name(), wanted.pkeys());
    which.changePkeys(wanted.pkeys());
    return true;
  }

  /** Makes and registers the device; where that fails nothing is left. */
  void start() {
    RxeDevice made = make(settings, this::released, this::netdevGone);
    List<ServiceRegistration<?>> registered = new ArrayList<>();
    boolean kept = false;
    try {
      registered.add(bundle.registerService(IbDevice.class, made, null));
      VerbsException failure = made.registrationFailure();
      if (failure != null) {
        throw new VerbsException(failure.errno(), failure.getMessage(), failure);
      }
      Hashtable<String, Object> properties = new Hashtable<>();
      properties.put(CaptureSource.PROPERTY_DEVICE, settings.name());
      registered.add(bundle.registerService(CaptureSource.class, made.capture(), properties));
      kept = keep(made, registered);
    } catch (IllegalStateException e) {
      throw new VerbsException(Errno.ENODEV, "the provider stops: " + settings.name() + " is not made", e);
    } finally {
      if (!kept) {
        undo(made, registered);
      }
    }
  }

  private synchronized boolean keep(RxeDevice made, List<ServiceRegistration<?>> registered) {
    if (!closed) {
      device = made;
      services = registered;
    }
    return !closed;
  }

  /** Takes the device out of the registry, which removes it in order, and makes sure that nothing of it remains. */
  private static void undo(RxeDevice made, List<ServiceRegistration<?>> registered) {
    made.capture().close();
    for (ServiceRegistration<?> each : registered.reversed()) {
      try {
        each.unregister();
      } catch (IllegalStateException e) {
        LOG.debug("a service of {} was unregistered with its bundle", made.name(), e);
      }
    }
    made.release();
  }

  /** Checks the interface, opens the link and makes the device. */
  static RxeDevice make(RxeSettings settings, Consumer<RxeDevice> whenReleased, Runnable whenGone) {
    return make(settings, UdpLinks::open, whenReleased, whenGone);
  }

  /** The same over a link of another kind. */
  static RxeDevice make(
      RxeSettings settings,
      Function<UdpLinkConfig, Link> links,
      Consumer<RxeDevice> whenReleased,
      Runnable whenGone) {
    Netdev netdev = PortNetdev.find(settings.netdev());
    if (netdev == null) {
      throw new VerbsException(Errno.ENODEV, settings.name() + ": there is no network interface " + settings.netdev());
    }
    if (PortNetdev.isVlan(settings.netdev())) {
      throw new VerbsException(
          Errno.EPERM, settings.name() + ": " + settings.netdev() + " is a VLAN; use the interface under it");
    }
    CapturingLink link = null;
    boolean made = false;
    try {
      link = new CapturingLink(links.apply(settings.link()), settings.name());
      RxeDevice device = new RxeDevice(settings, netdev, link, whenReleased, whenGone);
      made = true;
      return device;
    } catch (LinkException e) {
      throw PortAddresses.translate(e);
    } catch (OutOfMemoryError e) {
      throw new VerbsException(Errno.ENOMEM, settings.name() + ": no memory or no thread: " + e.getMessage(), e);
    } finally {
      if (!made && link != null) {
        link.close();
      }
    }
  }

  /** The core has let the device go: because we took it back, or because the core stops. */
  private void released(RxeDevice which) {
    Thread thread = Thread.ofVirtual().name("rxe-renew " + settings.name()).unstarted(() -> renew(which));
    synchronized (this) {
      if (closed || device != which) {
        return;
      }
      renewal = thread;
    }
    thread.start();
  }

  private void renew(RxeDevice which) {
    if (drop(which)) {
      try {
        start();
        LOG.info("{} waits for the core", settings.name());
      } catch (VerbsException e) {
        LOG.error("{} is not there any more: {}", settings.name(), e.toString());
        whenLost.run();
      }
    }
  }

  /** The interface has vanished; not on the core's thread, which waits for the removal. */
  private void netdevGone() {
    RxeDevice which;
    synchronized (this) {
      which = device;
    }
    if (which != null) {
      LOG.warn("{} goes with its network interface {}", settings.name(), settings.netdev());
      Thread.ofVirtual().name("rxe-drop " + settings.name()).start(() -> lose(which));
    }
  }

  private void lose(RxeDevice which) {
    if (drop(which)) {
      whenLost.run();
    }
  }

  private boolean drop(RxeDevice which) {
    List<ServiceRegistration<?>> registered;
    synchronized (this) {
      if (closed || device != which) {
        return false;
      }
      registered = services;
      device = null;
      services = null;
    }
    undo(which, registered);
    return true;
  }

  /** Removes the device; returns when it is gone. */
  void close() {
    RxeDevice which;
    List<ServiceRegistration<?>> registered;
    Thread renewing;
    synchronized (this) {
      closed = true;
      which = device;
      registered = services;
      device = null;
      services = null;
      renewing = renewal;
    }
    if (which != null) {
      undo(which, registered);
    }
    if (renewing != null) {
      join(renewing);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
