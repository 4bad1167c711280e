package org.rdma4j.pci;

/** Error numbers of the bus, with the names and numbers of Linux. */
public enum PciErrno {
  /** Input/output error: the function does not answer. */
  EIO(5),
  /** No such device or address: nothing is in that slot. */
  ENXIO(6),
  /** No room is left in an address window. */
  ENOMEM(12),
  /** In use already. */
  EBUSY(16),
  /** The slot is taken. */
  EEXIST(17),
  /** The device is gone. */
  ENODEV(19),
  /** Invalid argument. */
  EINVAL(22),
  /** Fewer interrupt vectors than needed. */
  ENOSPC(28),
  /** The call would wait for itself. */
  EDEADLK(35),
  /** The function lacks the capability. */
  ENOTSUP(95);

  private final int number;

  PciErrno(int number) {
    this.number = number;
  }

  /** {@return the number, positive, as in {@code errno.h}} */
  public int number() {
    return number;
  }
}
