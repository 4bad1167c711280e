package org.rdma4j.mlx5.device.internal;

import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.Fabric;

/** Cards on a network in memory. */
final class TestCards {
  private static final int MTU = 9000;
  private static final int MEGABITS = 100_000;

  private TestCards() {}

  static Card card(String name, Fabric fabric) {
    CardSettings settings =
        new CardSettings(
            name, "", "test0", null, MTU, MacAddress.parse("02:00:c0:00:02:01"), MEGABITS, IdleStrategy.DEFAULT);
    return new Card(settings, fabric.endpoint());
  }
}
