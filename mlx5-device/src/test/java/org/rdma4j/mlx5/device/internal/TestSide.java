package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.device.internal.TestUser.Cq;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;

/** One card on a bus of its own, up, with an address at index 1, a completion queue, a key and some memory. */
final class TestSide implements AutoCloseable {
  private final StandaloneBus bus = new StandaloneBus();
  final TestDriver driver = new TestDriver();
  final TestUser user;
  final Cq queue;
  final int key;
  final DmaMapping memory;

  TestSide(Card card, Gid address) {
    bus.add(driver);
    bus.plug(card, null);
    user = new TestUser(driver);
    user.roceAddress(1, address);
    queue = user.new Cq(6, 64);
    key = user.physicalKey();
    memory = user.allocate(1 << 16);
  }

  /** A datagram queue pair that is ready. */
  Qp queuePair(int service) {
    Qp qp = user.new Qp(service, queue, queue, 0, 0, false);
    qp.init();
    qp.ready(0, 0, Gid.ZERO);
    return qp;
  }

  @Override
  public void close() {
    bus.close();
  }
}
