package org.rdma4j.it.peer;

/** What rdma4j has on its side of the link. */
enum Device {
  /** The software provider. */
  RXE("rxe0", "rdma link add rxe0 type rxe netdev br0"),
  /** The modelled ConnectX, with its PCI driver and its provider. */
  CONNECTX("mlx5_0", "mlx5 plug netdev br0");

  private final String device;
  private final String add;

  Device(String device, String add) {
    this.device = device;
    this.add = add;
  }

  /** The name of the device. */
  String device() {
    return device;
  }

  /** The command that makes it on this side's interface. */
  String add() {
    return add;
  }
}
