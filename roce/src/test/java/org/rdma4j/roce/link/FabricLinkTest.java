package org.rdma4j.roce.link;

import org.rdma4j.roce.address.Gid;

/** The fabric under virtual time keeps the contract of a link. */
class FabricLinkTest extends LinkContractTest {
  private final Fabric fabric = new Fabric(1);

  @Override
  Link newLink() {
    return fabric.endpoint();
  }

  @Override
  Gid address(int number) {
    return Gid.ofIpv4(0xc0000200 | number);
  }
}
