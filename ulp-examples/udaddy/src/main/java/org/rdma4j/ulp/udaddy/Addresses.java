package org.rdma4j.ulp.udaddy;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import org.rdma4j.rdma.cm.verbs.AddressInfo;
import org.rdma4j.rdma.cm.verbs.AddressInfoException;

/** Where the command line says that the two sides are. */
final class Addresses {
  /** The number of {@code getaddrinfo} for a family that nobody knows. */
  private static final int NO_FAMILY = -6;

  private final UdaddyOptions options;
  private final PrintStream out;

  Addresses(UdaddyOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  /** The own address of a server. */
  InetSocketAddress listen() throws Failure {
    AddressInfo hints = AddressInfo.ANY.with(AddressInfo.Flag.PASSIVE);
    return find(options.bind(), UdaddyOptions.PORT, hints, "getrdmaaddr").source();
  }

  /** The server's address. */
  InetSocketAddress server() throws Failure {
    return find(options.server(), UdaddyOptions.PORT, AddressInfo.ANY, "getaddrinfo").destination();
  }

  /** The own address of a client, or null. */
  InetSocketAddress source() throws Failure {
    AddressInfo hints = AddressInfo.ANY.with(AddressInfo.Flag.PASSIVE);
    return options.bind() == null ? null : find(options.bind(), 0, hints, "getaddrinfo").source();
  }

  private AddressInfo find(String host, int port, AddressInfo hints, String call) throws Failure {
    if (options.addresses() == UdaddyOptions.Format.GID) {
      out.println("udaddy: " + call + " error: ai_family not supported");
      throw new Failure("udaddy: services are resolved by IP address, not by GID (-f gid)", NO_FAMILY);
    }
    boolean number = options.addresses() == UdaddyOptions.Format.NUMBER;
    try {
      AddressInfo all = number ? hints.with(AddressInfo.Flag.NUMERICHOST) : hints;
      return AddressInfo.getAddressInfo(host, Integer.toString(port), all).getFirst();
    } catch (AddressInfoException e) {
      out.println("udaddy: " + call + " error: " + e.reason().text());
      throw new Failure("udaddy: " + e.getMessage(), e.reason().number());
    }
  }
}
