package org.rdma4j.rdma.cm.internal.device;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.ib.CmPort;
import org.rdma4j.rdma.cm.ib.CmTimer;
import org.rdma4j.rdma.cm.ib.IbCm;

/** A device whose ports carry messages of communication management (kernel: {@code struct cm_device}). */
public final class CmDevice {
  private final RdmaDevice device;
  private final Map<Integer, DevicePort> ports = new TreeMap<>(); // not changed once made

  /** Makes an agent of each port that is able to; of all or of none. */
  CmDevice(RdmaDevice device, Mads mads, IbCm manager, CmTimer timer) {
    this.device = device;
    Object identity = new Object();
    boolean made = false;
    try {
      for (int number = 1; number <= device.portCount(); number++) {
        if (device.portImmutable(number).capabilities().contains(PortCoreCapability.IB_CM)) {
          ports.put(number, new DevicePort(device, number, identity, mads, manager, timer));
        }
      }
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  /** {@return the name of the device} */
  public String name() {
    return device.name();
  }

  /** {@return the device} */
  public RdmaDevice device() {
    return device;
  }

  /** {@return the ports by ascending number} */
  public List<CmPort> ports() {
    return List.copyOf(ports.values());
  }

  /** The port of a number, if it is able to. */
  public Optional<CmPort> port(int number) {
    return Optional.ofNullable(ports.get(number));
  }

  /** Waits until the goodbyes of its connections have left. */
  void awaitSent() {
    ports.values().forEach(DevicePort::awaitSent);
  }

  /** From now on nothing is sent and nothing that comes is looked at. */
  void goDown() {
    ports.values().forEach(DevicePort::goDown);
  }

  /** Gives the agents back; when this returns all messages are complete. */
  void close() {
    ports.values().forEach(DevicePort::close);
  }

  @Override
  public String toString() {
    return name();
  }
}
