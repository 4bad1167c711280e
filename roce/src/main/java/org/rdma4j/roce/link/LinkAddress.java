package org.rdma4j.roce.link;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.util.Enumeration;
import org.rdma4j.roce.address.Gid;

/** What links ask of an address on their control path. */
final class LinkAddress {
  private static final int PROBE_PORT = 4791;

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

  /** Checks that a port can join it. */
  static void requireMulticast(Gid gid) {
    if (!gid.isMulticast()) {
      throw LinkErrno.EINVAL.exception(gid + " is no multicast address, so it cannot be joined");
    }
  }

  /**
   * The interface on which groups are joined and reached.
   *
   * @param gid an address of the interface
   * @param interfaceName the interface, or null for the first one that has the address
   * @throws LinkException ENODEV when there is no such interface
   */
  static NetworkInterface interfaceOf(Gid gid, String interfaceName) {
    try {
      NetworkInterface found =
          interfaceName != null ? NetworkInterface.getByName(interfaceName) : interfaceOf(gid.toInetAddress());
      if (found == null) {
        throw LinkErrno.ENODEV.exception(
            interfaceName == null
                ? "no network interface has the address " + gid + ", which multicast needs"
                : "no network interface " + interfaceName + " for multicast from " + gid);
      }
      return found;
    } catch (SocketException e) {
      throw LinkErrno.EIO.exception("the network interfaces could not be listed for " + gid, e);
    }
  }

  /** All of 127.0.0.0/8 is the loopback interface's, though it lists one address only. */
  private static NetworkInterface interfaceOf(InetAddress address) throws SocketException {
    if (address.isLoopbackAddress()) {
      for (NetworkInterface candidate : NetworkInterface.networkInterfaces().toList()) {
        if (candidate.isLoopback()) {
          return candidate;
        }
      }
    }
    return NetworkInterface.getByInetAddress(address);
  }

  /**
   * Checks that the host can send to a group through an interface: that takes a route where the interface makes none
   * by itself, such as the loopback interface for IPv6.
   *
   * @throws LinkException ENETUNREACH when not
   */
  static void requireRoute(Gid source, Gid group, NetworkInterface through) {
    boolean ipv4 = group.isIpv4Mapped();
    try (DatagramChannel probe =
        DatagramChannel.open(ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6)) {
      probe.setOption(StandardSocketOptions.IP_MULTICAST_IF, through);
      InetAddress to =
          ipv4 ? group.toInetAddress() : Inet6Address.getByAddress(null, group.toByteArray(), through.getIndex());
      probe.connect(new InetSocketAddress(to, PROBE_PORT)); // Sends nothing.
    } catch (IOException e) {
      throw LinkErrno.ENETUNREACH.exception(
          "no route from " + source + " to the group " + group + " through " + through.getName() + ": "
              + e.getMessage(),
          e);
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
