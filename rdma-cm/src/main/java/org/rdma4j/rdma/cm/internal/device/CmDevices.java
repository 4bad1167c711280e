package org.rdma4j.rdma.cm.internal.device;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.ib.CmPort;
import org.rdma4j.rdma.cm.ib.IbCm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * IB communication management on the devices that there are: the one manager of the bundle, and a port for each port of
 * a device that is able to (kernel: cm.c, the {@code ib_client} named cm). Whoever makes it registers it as a {@link
 * DeviceClient}, unregisters it in the end, and closes it then.
 */
public final class CmDevices implements DeviceClient, AutoCloseable {
  /**
   * Who uses the ports: hears of a device when its ports are ready, and before they go. Kernel: the {@code ib_client}
   * of the RDMA CM, which comes after the one here and goes before it.
   */
  public interface Follower {
    /** A device is there; on a thread of the core. Throws to have nothing to do with it. */
    void added(CmDevice device);

    /**
     * A device goes; messages can still be sent until this returns, and ids that are destroyed say goodbye. On a thread
     * of the core.
     */
    void removing(CmDevice device);
  }

  private static final Logger LOG = LoggerFactory.getLogger(CmDevices.class);
  private static final long PATIENCE_SECONDS = 10;

  private final Mads mads;
  private final CmThread thread = new CmThread("ib_cm");
  private final IbCm manager = new IbCm(thread);
  private final List<Follower> followers = new CopyOnWriteArrayList<>();
  private final Map<String, CmDevice> devices = new LinkedHashMap<>(); // by name; guarded by itself

  /**
   * Makes one without devices.
   *
   * @param mads the MAD layer of the core
   */
  public CmDevices(Mads mads) {
    this.mads = mads;
  }

  /** {@return the manager of all ids} */
  public IbCm manager() {
    return manager;
  }

  /** {@return the manager's thread, which also others of the bundle may give work} */
  public CmThread thread() {
    return thread;
  }

  /** Lets somebody hear of the devices that come from now on; call it before the first can come. */
  public void follow(Follower follower) {
    followers.add(follower);
  }

  /** {@return the devices there are now, in the order in which they came} */
  public Collection<CmDevice> devices() {
    synchronized (devices) {
      return List.copyOf(devices.values());
    }
  }

  /** The device of a name, if there is one that has ports for this. */
  public Optional<CmDevice> device(String name) {
    synchronized (devices) {
      return Optional.ofNullable(devices.get(name));
    }
  }

  /**
   * A port.
   *
   * @param device name of the device
   * @param number of the port, from 1
   * @return the port, if there is one that is able to
   */
  public Optional<CmPort> port(String device, int number) {
    return device(device).flatMap(found -> found.port(number));
  }

  @Override
  public String name() {
    return "cm";
  }

  @Override
  public void add(Context context) {
    add(context.device());
  }

  void add(RdmaDevice added) {
    CmDevice device = new CmDevice(added, mads, manager, thread);
    if (device.ports().isEmpty()) {
      return;
    }
    synchronized (devices) {
      devices.put(device.name(), device);
    }
    for (Follower each : followers) {
      try {
        each.added(device);
      } catch (RuntimeException e) {
        LOG.error("{} is not used by {}", device.name(), each, e);
      }
    }
  }

  @Override
  public void remove(Context context) {
    remove(context.deviceName());
  }

  void remove(String name) {
    Optional<CmDevice> known = device(name);
    if (known.isEmpty()) {
      return;
    }
    CmDevice device = known.get();
    for (Follower each : new ArrayList<>(followers).reversed()) {
      try {
        each.removing(device);
      } catch (RuntimeException e) {
        LOG.error("{} has not left {} in order", each, device.name(), e);
      }
    }
    synchronized (devices) {
      devices.remove(device.name());
    }
    device.awaitSent();
    device.goDown();
    flush(device.name());
    device.close();
  }

  /** Waits until the manager's thread has done what the device had brought it. */
  private void flush(String device) {
    if (thread.isCurrent()) {
      return;
    }
    CountDownLatch reached = new CountDownLatch(1);
    thread.execute(reached::countDown);
    try {
      if (!reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a consumer of connections does not return; the removal of {} goes on without it", device);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the manager's thread, when there are no devices any more. */
  @Override
  public void close() {
    thread.close();
  }
}
