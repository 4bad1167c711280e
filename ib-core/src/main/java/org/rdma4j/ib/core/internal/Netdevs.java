package org.rdma4j.ib.core.internal;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.roce.address.MacAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the network interfaces of this host. */
final class Netdevs {
  private static final Logger LOG = LoggerFactory.getLogger(Netdevs.class);
  private static final int MAC_BYTES = 6;

  private Netdevs() {}

  /** {@return all interfaces by name} */
  static Map<String, NetdevSnapshot> read() {
    Map<String, NetdevSnapshot> found = new HashMap<>();
    try {
      for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        try {
          found.put(each.getName(), read(each));
        } catch (SocketException e) {
          LOG.debug("interface {} went while it was read", each.getName(), e);
        }
      }
    } catch (SocketException e) {
      LOG.debug("there are no interfaces", e);
    }
    return found;
  }

  private static NetdevSnapshot read(NetworkInterface each) throws SocketException {
    byte[] mac = each.getHardwareAddress();
    List<InetAddress> addresses = new ArrayList<>(Collections.list(each.getInetAddresses()));
    Netdev netdev =
        new Netdev(
            each.getName(),
            each.getIndex(),
            each.isUp(),
            each.getMTU(),
            mac == null || mac.length != MAC_BYTES ? null : MacAddress.of(mac));
    return new NetdevSnapshot(netdev, each.isLoopback(), List.copyOf(addresses));
  }
}
