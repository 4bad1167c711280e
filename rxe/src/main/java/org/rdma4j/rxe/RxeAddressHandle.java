package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.roce.link.Route;

/**
 * An address handle: a route under a number that send work requests carry (kernel: {@code struct rxe_ah}). The number
 * keeps its meaning after the handle is destroyed until it is given to another one, which is 32767 handles later, so
 * that what was posted before still leaves.
 */
final class RxeAddressHandle extends AddressHandle {
  /** What the engine needs of a handle. */
  record Entry(int protectionDomain, Route route) {}

  private final RxeDevice device;
  private final int number;

  RxeAddressHandle(ObjectContext owner, RxeDevice device, int number) {
    super(owner);
    this.device = device;
    this.number = number;
  }

  /** The number, 1 to 32767. */
  int number() {
    return number;
  }

  RxeDevice device() {
    return device;
  }

  @Override
  protected void doDestroy() {
    device.releaseAh(number);
  }
}
