package org.rdma4j.ib.core.verbs;

import java.util.Objects;

/**
 * A control-path failure: the errno the C API would give, and a message that says what was asked, what was wrong and
 * what is allowed.
 */
public class VerbsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The error number. */
  private final Errno errno;

  /**
   * Makes a failure.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   */
  public VerbsException(Errno errno, String message) {
    super(message);
    this.errno = Objects.requireNonNull(errno, "errno");
  }

  /**
   * Makes a failure that another caused.
   *
   * @param errno the error number
   * @param message what was asked, what was wrong, what is allowed
   * @param cause the cause
   */
  public VerbsException(Errno errno, String message, Throwable cause) {
    super(message, cause);
    this.errno = Objects.requireNonNull(errno, "errno");
  }

  /** {@return the error number} */
  public Errno errno() {
    return errno;
  }

  @Override
  public String toString() {
    return errno + ": " + getMessage();
  }
}
