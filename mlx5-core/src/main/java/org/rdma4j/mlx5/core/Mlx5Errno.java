package org.rdma4j.mlx5.core;

/** Error numbers of the driver, with the names and numbers of Linux. */
public enum Mlx5Errno {
  /** Input/output error. */
  EIO(5),
  /** The device does not take commands. */
  ENXIO(6),
  /** A limit is reached. */
  EAGAIN(11),
  /** No memory or no room. */
  ENOMEM(12),
  /** The card could not reach memory. */
  EFAULT(14),
  /** In use, or not ready in time. */
  EBUSY(16),
  /** The device is gone. */
  ENODEV(19),
  /** Invalid argument. */
  EINVAL(22),
  /** The message was malformed. */
  ENOMSG(42),
  /** Signature or token was wrong. */
  EBADR(53),
  /** The card does not have this. */
  EOPNOTSUPP(95),
  /** No answer in time. */
  ETIMEDOUT(110);

  private final int number;

  Mlx5Errno(int number) {
    this.number = number;
  }

  /** {@return the number, positive, as in {@code errno.h}} */
  public int number() {
    return number;
  }
}
