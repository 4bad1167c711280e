package org.rdma4j.mlx5.ib;

import org.rdma4j.benchmarks.speed.MeasuredDevice;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.internal.StandaloneDriver;
import org.rdma4j.mlx5.device.internal.FabricCard;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Fabric;

/**
 * A modelled card on a network in memory, on a bus of its own, with its PCI driver and its verbs device, without a
 * container. In the provider's package, because the provider exports nothing.
 */
public final class StandaloneConnectx implements MeasuredDevice {
  private static final String NETDEV = "lo";
  private static final long PATIENCE_MILLIS = 5_000;

  private final StandaloneBus bus = new StandaloneBus();
  private final Gid address;
  private DeviceControl control;

  /**
   * Plugs a card in; returns when its device is usable.
   *
   * @param name name of the card, also of its threads
   * @param address an address of 127.0.0.0/8, as an IPv4-mapped GID
   * @param fabric the network
   */
  public StandaloneConnectx(String name, Gid address, Fabric fabric) {
    this.address = address;
    PciDriver driver = StandaloneDriver.make(this::bringUp);
    PciCard card = FabricCard.make(name, address, fabric);
    bus.add(driver);
    bus.plug(card, null);
    if (control == null) {
      bus.close();
      throw new IllegalStateException("the card does not come up: the log says why");
    }
  }

  private Runnable bringUp(Mlx5Device core) {
    ConnectxDevice device = new ConnectxDevice(core, released -> {});
    DeviceControl made = device.bind();
    made.load("mlx5_0", 0);
    made.addGid(1, address, GidType.ROCE_V2, NETDEV, false);
    made.enable();
    made.accept();
    control = made;
    return () -> {
      made.refuse();
      made.disassociate(PATIENCE_MILLIS);
      made.destroyLeft(PATIENCE_MILLIS);
      made.release();
    };
  }

  @Override
  public Context open() {
    return control.view("org.rdma4j.benchmarks").open();
  }

  /** Unplugs the card in order. */
  @Override
  public void close() {
    bus.close();
  }
}
