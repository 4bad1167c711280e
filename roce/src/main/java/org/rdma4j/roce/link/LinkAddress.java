package org.rdma4j.roce.link;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Enumeration;
import org.rdma4j.roce.address.Gid;

/** What links ask of an address on their control path. */
final class LinkAddress {
  private LinkAddress() {}

  /** {@code ::} or {@code 0.0.0.0}. */
  static boolean isUnspecified(Gid gid) {
    return gid.isZero() || gid.isIpv4Mapped() && gid.ipv4() == 0;
  }

  /** Checks that a port can receive on it as its own. */
  static void requireUnicast(Gid gid) {
    if (isUnspecified(gid) || gid.isMulticast()) {
      throw LinkErrno.EINVAL.exception("cannot receive on " + gid + ": a unicast address is needed");
    }
  }

  /**
   * The index of the interface that a link-local address belongs to, which a socket needs beside the address.
   *
   * @param interfaceName the interface, or null for the first one that has the address
   * @throws LinkException ENODEV when there is no such interface, EADDRNOTAVAIL when none has the address
   */
  static int scopeOf(Gid gid, String interfaceName) {
    try {
      if (interfaceName != null) {
        NetworkInterface named = NetworkInterface.getByName(interfaceName);
        if (named == null) {
          throw LinkErrno.ENODEV.exception("no network interface " + interfaceName + " for " + gid);
        }
        return named.getIndex();
      }
      return scopeOf(gid);
    } catch (SocketException e) {
      throw LinkErrno.EIO.exception("the network interfaces could not be listed for " + gid, e);
    }
  }

  private static int scopeOf(Gid gid) throws SocketException {
    for (NetworkInterface candidate : NetworkInterface.networkInterfaces().toList()) {
      Enumeration<InetAddress> addresses = candidate.getInetAddresses();
      while (addresses.hasMoreElements()) {
        if (Gid.of(addresses.nextElement()).equals(gid)) {
          return candidate.getIndex();
        }
      }
    }
    throw LinkErrno.EADDRNOTAVAIL.exception("no network interface has the address " + gid);
  }
}
