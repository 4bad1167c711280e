package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.ProtectionDomain;

/** A protection domain: a number that keys and queue pairs share (kernel: {@code struct rxe_pd}). */
final class RxeProtectionDomain extends ProtectionDomain {
  private final NumberPool numbers;
  private final int number;

  RxeProtectionDomain(ObjectContext owner, NumberPool numbers, int number) {
    super(owner);
    this.numbers = numbers;
    this.number = number;
  }

  /** The number, from 1. */
  int number() {
    return number;
  }

  @Override
  protected void doDestroy() {
    numbers.give(number);
  }
}
