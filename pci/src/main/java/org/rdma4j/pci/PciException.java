package org.rdma4j.pci;

/** A call on the bus that failed: why, and what would be allowed. */
public class PciException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final PciErrno errno;

  /**
   * Describes a failure.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   */
  public PciException(PciErrno errno, String message) {
    this(errno, message, null);
  }

  /**
   * Describes a failure that has a cause.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   * @param cause the cause, or null
   */
  public PciException(PciErrno errno, String message, Throwable cause) {
    super(message, cause);
    this.errno = errno;
  }

  /** {@return the error number} */
  public PciErrno errno() {
    return errno;
  }
}
