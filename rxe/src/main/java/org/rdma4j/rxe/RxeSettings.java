package org.rdma4j.rxe;

import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.IcrcCheck;
import org.rdma4j.roce.link.UdpLinkConfig;

/**
 * What a link is made of.
 *
 * @param name name of the device
 * @param netdev network interface
 * @param address the only address to use, or null for all of the interface
 * @param icrc how received packets are checked
 * @param udpPort UDP port, 4791 for all but tests
 * @param idle what the engine's thread does without work
 */
record RxeSettings(String name, String netdev, Gid address, IcrcCheck icrc, int udpPort, IdleStrategy idle) {
  RxeSettings(String name, String netdev, Gid address) {
    this(name, netdev, address, IcrcCheck.RECOVER, UdpLinkConfig.ROCE_PORT, IdleStrategy.DEFAULT);
  }

  UdpLinkConfig link() {
    return UdpLinkConfig.DEFAULT.withPort(udpPort).withIcrcCheck(icrc).withNetworkInterface(netdev);
  }
}
