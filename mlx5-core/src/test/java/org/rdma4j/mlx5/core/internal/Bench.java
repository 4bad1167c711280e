package org.rdma4j.mlx5.core.internal;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.standalone.StandaloneBus;

/** A bus with the driver on it, and what the driver offers. */
final class Bench implements AutoCloseable, AuxiliaryPublisher {
  static final PciAddress SLOT = PciAddress.parse("0000:03:00.0");

  final StandaloneBus bus = new StandaloneBus();
  final ScriptedCard card = new ScriptedCard();
  final List<AuxiliaryDevice> offered = new CopyOnWriteArrayList<>();
  final List<String> history = new CopyOnWriteArrayList<>();
  final List<Mlx5Device> shown = new CopyOnWriteArrayList<>();
  final Map<DeviceParameter, Integer> parameters = new EnumMap<>(DeviceParameter.class);
  final Map<Timeout, Long> timeouts = new EnumMap<>(Timeout.class);
  volatile Runnable onWithdrawal = () -> {};
  private CoreDriver driver;

  Bench start() {
    parameters.putIfAbsent(DeviceParameter.EVENT_EQ_SIZE, 64);
    parameters.putIfAbsent(DeviceParameter.IO_EQ_SIZE, 64);
    driver = new CoreDriver(this, new CoreSettings(parameters, 0, timeouts));
    bus.add(driver);
    bus.plug(card, SLOT);
    return this;
  }

  void trace(CommandTracer tracer) {
    driver.trace(tracer);
  }

  /** The host goes down. */
  void shutdown() {
    driver.shutdown(((CoreDevice) device()).pci());
  }

  Mlx5Device device() {
    return offered.getFirst().device();
  }

  @Override
  public Runnable publish(AuxiliaryDevice device) {
    offered.add(device);
    history.add("offer " + device.name());
    return () -> {
      history.add("withdraw " + device.name());
      offered.remove(device);
      onWithdrawal.run();
    };
  }

  @Override
  public Runnable publish(Mlx5Device device) {
    shown.add(device);
    return () -> shown.remove(device);
  }

  /** Threads of the driver that live. */
  static List<String> threads() {
    List<String> names = new ArrayList<>();
    for (Thread each : Thread.getAllStackTraces().keySet()) {
      if (each.getName().startsWith("mlx5-")) {
        names.add(each.getName());
      }
    }
    return names;
  }

  @Override
  public void close() {
    bus.close();
  }
}
