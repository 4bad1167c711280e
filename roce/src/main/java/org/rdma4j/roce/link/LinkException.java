package org.rdma4j.roce.link;

import java.util.Objects;

/**
 * A link could not do what its control path was asked for.
 *
 * <p>Carries the errno that the system, or a system in its place, gives for it. The data path never throws it: there,
 * failures are counted in {@link LinkCounters}.
 */
public final class LinkException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String errnoName;
  private final int errno;

  /**
   * Makes an exception.
   *
   * @param errnoName the symbolic name, such as {@code EADDRINUSE}
   * @param errno the Linux number that goes with it, positive
   * @param message what was asked, what was wrong, what is allowed
   */
  public LinkException(String errnoName, int errno, String message) {
    this(errnoName, errno, message, null);
  }

  /**
   * Makes an exception with a cause.
   *
   * @param errnoName the symbolic name, such as {@code EADDRINUSE}
   * @param errno the Linux number that goes with it, positive
   * @param message what was asked, what was wrong, what is allowed
   * @param cause what led to it, or null
   */
  public LinkException(String errnoName, int errno, String message, Throwable cause) {
    super(errnoName + ": " + message, cause);
    this.errnoName = Objects.requireNonNull(errnoName);
    this.errno = errno;
  }

  /**
   * Makes an exception from a Linux errno.
   *
   * @param errno the number, positive
   * @param message what was asked, what was wrong, what is allowed
   * @return the exception, with the name that belongs to the number ({@code errno N} when it is not a known one)
   */
  public static LinkException ofErrno(int errno, String message) {
    return new LinkException(LinkErrno.nameOf(errno), errno, message);
  }

  /**
   * Returns the symbolic name of the error.
   *
   * @return such as {@code EADDRINUSE}
   */
  public String errnoName() {
    return errnoName;
  }

  /**
   * Returns the number of the error.
   *
   * @return the Linux errno, positive
   */
  public int errno() {
    return errno;
  }
}
