package org.rdma4j.ulp.cmtime;

/** The help text, which is that of rdma-core. */
final class Usage {
  static final String TEXT =
      """
      usage: cmtime
      \t[-s server_address]
      \t[-b bind_address]
      \t[-c connections]
      \t[-p port_number]
      \t[-r retries]
      \t[-t timeout_ms]
      """;

  private Usage() {}
}
