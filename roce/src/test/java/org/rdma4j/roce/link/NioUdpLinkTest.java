package org.rdma4j.roce.link;

import org.junit.jupiter.api.Test;

class NioUdpLinkTest extends UdpContractTest {
  @Override
  Link newLink(UdpLinkConfig config) {
    return new NioUdpLink(config);
  }

  @Test
  void overIpv6() {
    sendsToItselfOverIpv6();
  }
}
