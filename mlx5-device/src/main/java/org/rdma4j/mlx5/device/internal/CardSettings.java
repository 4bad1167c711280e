package org.rdma4j.mlx5.device.internal;

import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.engine.IdleStrategy;

/**
 * What a card is made of.
 *
 * @param name name in logs and of threads
 * @param slot where it is plugged in, or empty for the lowest free slot
 * @param netdev network interface of its port
 * @param address the only address of the interface that it uses, or null for all
 * @param mtu MTU of the interface in bytes
 * @param mac permanent MAC address of the port
 * @param megabits speed of the port
 * @param idle what the engine's thread does without work
 */
record CardSettings(
    String name,
    String slot,
    String netdev,
    Gid address,
    int mtu,
    MacAddress mac,
    int megabits,
    IdleStrategy idle) {

  /** The words for the port. */
  String port() {
    return address == null ? netdev : netdev + " " + address;
  }
}
