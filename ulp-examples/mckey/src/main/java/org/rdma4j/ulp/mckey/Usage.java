package org.rdma4j.ulp.mckey;

/** The help text, which is that of rdma-core. */
final class Usage {
  static final String TEXT =
      """
      usage: mckey
      \t-m multicast_address
      \t[-M unmapped_multicast_address]
      \t replaces -m and requires -b
      \t[-s(ender)]
      \t[-b bind_address]
      \t[-c connections]
      \t[-C message_count]
      \t[-S message_size]
      \t[-p port_space - 0x111 for UDP (default), 0x2 for IPOIB]
      \t[-o join as a send-only full-member]
      \t[-l join without multicast loopback]
      """;

  private Usage() {}
}
