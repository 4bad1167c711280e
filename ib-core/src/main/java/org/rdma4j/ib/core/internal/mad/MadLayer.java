package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.MadSendHandler;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * The MAD layer: a client of every device, of which it has a port's queue pair 1 while the port has agents. The kernel
 * has it from the device's first moment; here nobody pays for what nobody uses.
 */
public final class MadLayer implements DeviceClient, Mads {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOOK_MILLIS = 100;

  private final Map<Integer, Device> devices = new HashMap<>(); // by index; guarded by itself

  /** Makes one without devices. */
  public MadLayer() {}

  /** A device and its ports that are in use. */
  private static final class Device {
    private final Context context;
    private final Map<Integer, MadPort> ports = new HashMap<>();
    private boolean gone;

    Device(Context context) {
      this.context = context;
    }
  }

  @Override
  public String name() {
    return "ib_core"; // Whom the tools show as the owner of a port's queue pair 1.
  }

  @Override
  public void add(Context context) {
    synchronized (devices) {
      devices.put(context.device().index(), new Device(context));
      devices.notifyAll();
    }
  }

  @Override
  public void remove(Context context) {
    Device device;
    synchronized (devices) {
      device = devices.remove(context.device().index());
    }
    if (device != null) {
      synchronized (device) {
        device.gone = true;
        device.ports.values().forEach(MadPort::close);
        device.ports.clear();
      }
    }
  }

  @Override
  public MadAgent register(RdmaDevice device, int port, MadRegistration registration, MadReceiver receiver) {
    if (!device.portImmutable(port).capabilities().contains(PortCoreCapability.MAD)) {
      throw new VerbsException(
          Errno.EPROTONOSUPPORT, "port " + port + " of " + device.name() + " has no general services");
    }
    Device known = await(device);
    synchronized (known) {
      if (known.gone) {
        throw removed(device);
      }
      MadPort place = known.ports.computeIfAbsent(port, each -> new MadPort(known.context, port));
      try {
        return new Agent(known, port, place, place.engine().register(registration, receiver));
      } finally {
        closeIfUnused(known, port, place);
      }
    }
  }

  private static VerbsException removed(RdmaDevice device) {
    return new VerbsException(Errno.ENODEV, device.name() + ": the device was removed");
  }

  /** A device is published a moment before its clients hear of it. */
  private Device await(RdmaDevice device) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    try {
      synchronized (devices) {
        while (!devices.containsKey(device.index())) {
          device.port(1); // throws ENODEV for one that is gone
          long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
          if (left <= 0) {
            throw removed(device);
          }
          try {
            devices.wait(Math.min(left, LOOK_MILLIS));
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
        return devices.get(device.index());
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void closeIfUnused(Device device, int port, MadPort place) {
    if (place.engine().isEmpty() && device.ports.remove(port, place)) {
      place.close();
    }
  }

  /** An agent whose end may be that of its port's queue pair. */
  private record Agent(Device device, int port, MadPort place, MadAgent agent) implements MadAgent {
    @Override
    public int highTransactionId() {
      return agent.highTransactionId();
    }

    @Override
    public MadSend send(MemorySegment mad, MadAddress to, long milliseconds, int retries, MadSendHandler handler) {
      return agent.send(mad, to, milliseconds, retries, handler);
    }

    @Override
    public void close() {
      agent.close();
      synchronized (device) {
        closeIfUnused(device, port, place);
      }
    }
  }
}
