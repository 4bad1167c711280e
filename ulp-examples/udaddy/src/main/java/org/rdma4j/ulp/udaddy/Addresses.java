package org.rdma4j.ulp.udaddy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Where the command line says that the two sides are. */
final class Addresses {
  private static final String ANY = "0.0.0.0";

  /** Numbers and texts of {@code getaddrinfo}. */
  private static final int NO_NAME = -2;

  private static final int NO_FAMILY = -6;

  private Addresses() {}

  /** The own address of a server. */
  static InetSocketAddress listen(UdaddyOptions options) throws Failure {
    return new InetSocketAddress(resolve(options.bind() == null ? ANY : options.bind(), options), UdaddyOptions.PORT);
  }

  /** The server's address. */
  static InetSocketAddress server(UdaddyOptions options) throws Failure {
    return new InetSocketAddress(resolve(options.server(), options), UdaddyOptions.PORT);
  }

  /** The own address of a client, or null. */
  static InetSocketAddress source(UdaddyOptions options) throws Failure {
    return options.bind() == null ? null : new InetSocketAddress(resolve(options.bind(), options), 0);
  }

  private static InetAddress resolve(String host, UdaddyOptions options) throws Failure {
    if (options.addresses() == UdaddyOptions.Format.GID) {
      throw new Failure("ai_family not supported: services are resolved by IP address, not by GID", NO_FAMILY);
    }
    try {
      return options.addresses() == UdaddyOptions.Format.NUMBER
          ? InetAddress.ofLiteral(host)
          : InetAddress.getByName(host);
    } catch (UnknownHostException | IllegalArgumentException e) {
      throw new Failure("Name or service not known: " + host, NO_NAME);
    }
  }
}
