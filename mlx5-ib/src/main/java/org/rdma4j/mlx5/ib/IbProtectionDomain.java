package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.mlx5.core.ObjectCommands;

/** A protection domain of the card (kernel: {@code struct mlx5_ib_pd}). */
final class IbProtectionDomain extends ProtectionDomain {
  private final ConnectxDevice device;
  private final int number;

  IbProtectionDomain(ObjectContext owner, ConnectxDevice device, int number) {
    super(owner);
    this.device = device;
    this.number = number;
  }

  int number() {
    return number;
  }

  @Override
  protected void doDestroy() {
    device.giveBack("protection domain", () -> ObjectCommands.freePd(device.core(), number));
  }
}
