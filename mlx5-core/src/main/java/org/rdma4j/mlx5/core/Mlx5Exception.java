package org.rdma4j.mlx5.core;

/** A call on the driver that failed: why, and what would be allowed. */
public class Mlx5Exception extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Mlx5Errno errno;

  /**
   * Describes a failure.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   */
  public Mlx5Exception(Mlx5Errno errno, String message) {
    this(errno, message, null);
  }

  /**
   * Describes a failure that has a cause.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   * @param cause the cause, or null
   */
  public Mlx5Exception(Mlx5Errno errno, String message, Throwable cause) {
    super(message, cause);
    this.errno = errno;
  }

  /** {@return the error number} */
  public Mlx5Errno errno() {
    return errno;
  }
}
