package org.rdma4j.mlx5.device.internal;

import org.rdma4j.pci.PciCard;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.Fabric;

/** Makes cards on a network in memory. In the card's package, because the card exports nothing that makes one. */
public final class FabricCard {
  private static final int MTU = 9000;
  private static final int MEGABITS = 100_000;
  private static final long LOCAL_MAC = 0x0200_0000_0000L;
  private static final long LOW = 0xffff_ffffL;

  private FabricCard() {}

  /**
   * Makes a card.
   *
   * @param name its name, also of its threads
   * @param address the only address that it uses, of 127.0.0.0/8
   * @param fabric the network
   * @return the card, not plugged in
   */
  public static PciCard make(String name, Gid address, Fabric fabric) {
    MacAddress mac = new MacAddress(LOCAL_MAC | address.lo() & LOW);
    CardSettings settings =
        new CardSettings(name, "", "lo", address, MTU, mac, MEGABITS, IdleStrategy.DEFAULT);
    return new Card(settings, fabric.endpoint());
  }
}
