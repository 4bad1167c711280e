package org.rdma4j.mlx5.ib;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;

/**
 * The network interface of a port, which the card names by its MAC address only. A card that shares an interface has a
 * MAC address of its own, 02:00 and the last four bytes of the only IP address that it uses.
 *
 * @param netdev name of the interface, or null where none fits
 * @param only the only address that the port uses, or null for all of the interface
 */
record PortAddress(String netdev, Gid only) {
  private static final long LOCAL = 0x0200L << Integer.SIZE;
  private static final int LOOPBACK = 127;
  private static final int MAC_BYTES = 6;

  static PortAddress of(MacAddress mac) {
    try {
      List<NetworkInterface> interfaces = NetworkInterface.networkInterfaces().toList();
      for (NetworkInterface each : interfaces) {
        byte[] hardware = each.getHardwareAddress();
        if (hardware != null && hardware.length == MAC_BYTES && MacAddress.of(hardware).equals(mac)) {
          return new PortAddress(each.getName(), null);
        }
      }
      return mac.value() >>> Integer.SIZE == LOCAL >>> Integer.SIZE
          ? shared(interfaces, (int) mac.value())
          : new PortAddress(null, null);
    } catch (SocketException e) {
      throw new VerbsException(Errno.EIO, "network interfaces cannot be asked: " + e, e);
    }
  }

  private static PortAddress shared(List<NetworkInterface> interfaces, int low) throws SocketException {
    for (NetworkInterface each : interfaces) {
      if (each.isLoopback() && low >>> 24 == LOOPBACK) {
        return new PortAddress(each.getName(), Gid.ofIpv4(low));
      }
      for (InetAddress address : each.inetAddresses().toList()) {
        if ((int) Gid.of(address).lo() == low) {
          return new PortAddress(each.getName(), Gid.of(address));
        }
      }
      if (each.getIndex() == low) {
        return new PortAddress(each.getName(), null);
      }
    }
    return new PortAddress(null, null);
  }
}
