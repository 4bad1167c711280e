package org.rdma4j.ulp.ucmatose;

/** The help text, which is that of rdma-core. */
final class Usage {
  static final String TEXT =
      """
      usage: ucmatose
      \t[-s server_address]
      \t[-b bind_address]
      \t[-f address_format]
      \t    name, ip, ipv6, or gid
      \t[-P port_space]
      \t    tcp or ib
      \t[-c connections]
      \t[-C message_count]
      \t[-S message_size]
      \t[-t type_of_service]
      \t[-p port_number]
      \t[-m(igrate)]
      \t[-a ack_timeout]
      """;

  private Usage() {}
}
