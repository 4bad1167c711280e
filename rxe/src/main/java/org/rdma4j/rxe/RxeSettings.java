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
 * @param pkeys the port's P_Keys; these alone may change while the device is there
 */
record RxeSettings(
    String name, String netdev, Gid address, IcrcCheck icrc, int udpPort, IdleStrategy idle, PortPkeys pkeys) {
  RxeSettings(String name, String netdev, Gid address, IcrcCheck icrc, int udpPort, IdleStrategy idle) {
    this(name, netdev, address, icrc, udpPort, idle, PortPkeys.DEFAULT);
  }

  RxeSettings(String name, String netdev, Gid address) {
    this(name, netdev, address, IcrcCheck.RECOVER, UdpLinkConfig.ROCE_PORT, IdleStrategy.DEFAULT);
  }

  RxeSettings withPkeys(PortPkeys table) {
    return new RxeSettings(name, netdev, address, icrc, udpPort, idle, table);
  }

  UdpLinkConfig link() {
    return UdpLinkConfig.DEFAULT.withPort(udpPort).withIcrcCheck(icrc).withNetworkInterface(netdev);
  }
}
