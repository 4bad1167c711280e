package org.rdma4j.ib.core.internal;

import java.net.InetAddress;
import java.util.List;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;

/**
 * A network interface and its addresses at one moment.
 *
 * @param netdev the interface
 * @param loopback true where every address of 127.0.0.0/8 is local
 * @param addresses the IP addresses
 */
record NetdevSnapshot(Netdev netdev, boolean loopback, List<InetAddress> addresses) {
  /** The default GID: link-local with the EUI-64 of the hardware address; null without one. */
  Gid defaultGid() {
    return netdev.mac() == null ? null : Gid.linkLocal(Guid.ofMac(netdev.mac()));
  }

  /** Whether an address can be used on the interface. */
  boolean owns(Gid gid) {
    return addresses.stream().map(Gid::of).anyMatch(gid::equals)
        || loopback && gid.isIpv4Mapped() && gid.ipv4() >>> 24 == 127;
  }
}
