package org.rdma4j.rdma.cm.internal.cma;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.Collection;
import java.util.Locale;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Which device and which local address reach an address (kernel: {@code rdma_resolve_ip}, {@code cma_acquire_dev}). The
 * system's routing is asked by connecting a datagram socket, which sends nothing. The neighbour is not asked for: that
 * is done for the packets themselves, by the system.
 */
final class Resolver {
  private static final int ANY_PORT = 4791; // no packet goes there

  private Resolver() {}

  /**
   * What was found.
   *
   * @param local address that packets go from
   * @param device that has it
   * @param gid its slot there
   * @param self whether the address was to be that of the host itself, and no device has one of the loopback device
   */
  record Found(InetAddress local, CmaDevice device, GidEntry gid, boolean self) {}

  /**
   * Finds it.
   *
   * @param cma has the devices
   * @param source local address that was given; null or unspecified for none
   * @param destination address to reach
   * @throws VerbsException ENODEV where no device has the local address, ENETUNREACH and others as routing says
   */
  static Found find(Cma cma, InetAddress source, InetAddress destination) {
    boolean given = source != null && !source.isAnyLocalAddress();
    boolean host = destination.isAnyLocalAddress() || destination.isLoopbackAddress();
    Collection<CmaDevice> devices = host ? cma.devices(destination) : cma.devices();
    boolean self = host && owner(devices, destination) == null && !isReached(devices, source, destination);
    if (self && !given) {
      return self(devices, destination);
    }
    InetAddress local = given ? source : route(destination);
    devices = cma.devices(local);
    Found found = at(devices, local);
    if (found == null && !given && destination.isLoopbackAddress()) {
      // Routing names the address of the loopback device, which nobody else has here: any other of it will do.
      found = anyLoopback(devices, destination);
    }
    if (found == null) {
      throw new VerbsException(
          Errno.ENODEV,
          "no device has the address %s, from which %s is reached; devices are %s"
              .formatted(local.getHostAddress(), destination.getHostAddress(), devices));
    }
    if (given && !self && found.gid().netdev() != null) {
      check(local, destination);
    }
    return new Found(found.local(), found.device(), found.gid(), self);
  }

  /** Whether an address of the loopback device is reached over it: another process may have a device there. */
  private static boolean isReached(Collection<CmaDevice> devices, InetAddress source, InetAddress destination) {
    if (!destination.isLoopbackAddress()) {
      return false;
    }
    return source != null && !source.isAnyLocalAddress()
        ? source.isLoopbackAddress()
        : anyLoopback(devices, destination) != null;
  }

  /** The first device that has an address, or null. */
  static Found at(Collection<CmaDevice> devices, InetAddress local) {
    for (CmaDevice device : devices) {
      GidEntry entry = device.find(local);
      if (entry != null) {
        return new Found(local, device, entry, false);
      }
    }
    return null;
  }

  private static CmaDevice owner(Collection<CmaDevice> devices, InetAddress address) {
    return devices.stream().filter(device -> device.find(address) != null).findFirst().orElse(null);
  }

  private static Found anyLoopback(Collection<CmaDevice> devices, InetAddress destination) {
    for (CmaDevice device : devices) {
      for (int port : device.ports()) {
        for (GidEntry each : device.device.gidTable(port).entries()) {
          InetAddress address = each.gid().toInetAddress();
          if (address.isLoopbackAddress() && address.getClass() == destination.getClass()) {
            return new Found(address, device, each, false);
          }
        }
      }
    }
    return null;
  }

  /** The host itself: the first device with a port that is up, and its first address at both ends. */
  private static Found self(Collection<CmaDevice> devices, InetAddress destination) {
    for (PortState wanted : new PortState[] {PortState.ACTIVE, null}) {
      for (CmaDevice device : devices) {
        for (int port : device.ports()) {
          GidEntry first = device.device.gidTable(port).entry(0);
          if (first != null && (wanted == null || device.device.port(port).state() == wanted)) {
            return new Found(loopback(destination), device, first, true);
          }
        }
      }
    }
    throw new VerbsException(Errno.ENODEV, "there is no device to reach " + destination.getHostAddress() + " with");
  }

  static InetAddress loopback(InetAddress destination) {
    try {
      return destination instanceof Inet6Address
          ? InetAddress.getByName("::1")
          : InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    } catch (IOException e) {
      throw new AssertionError("numbers need no name server", e);
    }
  }

  /** The local address that the system sends from to a destination. */
  private static InetAddress route(InetAddress destination) {
    try (DatagramChannel channel = open(destination)) {
      channel.connect(new InetSocketAddress(destination, ANY_PORT));
      return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    } catch (IOException e) {
      throw unreachable(destination, e);
    }
  }

  private static void check(InetAddress local, InetAddress destination) {
    try (DatagramChannel channel = open(destination)) {
      channel.bind(new InetSocketAddress(local, 0));
      channel.connect(new InetSocketAddress(destination, ANY_PORT));
    } catch (IOException e) {
      throw unreachable(destination, e);
    }
  }

  private static DatagramChannel open(InetAddress destination) throws IOException {
    return DatagramChannel.open(
        destination instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
  }

  private static VerbsException unreachable(InetAddress destination, IOException e) {
    String text = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    Errno errno = Errno.EHOSTUNREACH;
    if (text.contains("network is unreachable") || text.contains("network unreachable")) {
      errno = Errno.ENETUNREACH;
    } else if (text.contains("cannot assign")) {
      errno = Errno.EADDRNOTAVAIL;
    } else if (text.contains("invalid argument")) {
      errno = Errno.EINVAL;
    } else if (e instanceof NoRouteToHostException
        || e instanceof ConnectException
        || e instanceof SocketException) {
      errno = Errno.EHOSTUNREACH;
    }
    return new VerbsException(errno, "no way to " + destination.getHostAddress() + ": " + e.getMessage(), e);
  }
}
