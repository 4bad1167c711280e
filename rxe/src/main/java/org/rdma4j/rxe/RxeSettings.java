package org.rdma4j.rxe;

import java.time.Duration;
import org.rdma4j.roce.address.Gid;
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
 * @param spin how long the engine polls without work before it sleeps
 */
record RxeSettings(String name, String netdev, Gid address, IcrcCheck icrc, int udpPort, Duration spin) {
  /** Long enough to catch the answer of a busy peer on the same host, too short to be seen as load. */
  static final Duration DEFAULT_SPIN = Duration.ofNanos(20_000);

  RxeSettings(String name, String netdev, Gid address) {
    this(name, netdev, address, IcrcCheck.RECOVER, UdpLinkConfig.ROCE_PORT, DEFAULT_SPIN);
  }

  UdpLinkConfig link() {
    return UdpLinkConfig.DEFAULT.withPort(udpPort).withIcrcCheck(icrc).withNetworkInterface(netdev);
  }
}
