package org.rdma4j.ulp.udaddy;

/** The help text, which is that of rdma-core. */
final class Usage {
  static final String TEXT =
      """
      usage: udaddy
      \t[-s server_address]
      \t[-b bind_address]
      \t[-f address_format]
      \t    name, ip, ipv6, or gid
      \t[-P port_space]
      \t    udp or ipoib
      \t[-c connections]
      \t[-C message_count]
      \t[-S message_size]
      \t[-t type_of_service]
      \t[-p port_space - 0x111 for UDP (default), 0x2 for IPOIB]
      """;

  private Usage() {}
}
