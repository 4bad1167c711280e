package org.rdma4j.ulp.provider;

import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.ObjectContext;

/** The way of a datagram: here no more than what the core knows. */
final class LoopAh extends AddressHandle {
  private final LoopDevice device;
  private final int number;

  LoopAh(ObjectContext owner, LoopDevice device, int number) {
    super(owner);
    this.device = device;
    this.number = number;
  }

  LoopDevice device() {
    return device;
  }

  @Override
  protected void doDestroy() {
    device.ahs().remove(number);
  }
}
