package org.rdma4j.ulp.command;

/** A command that failed: a line for its error stream, and its exit status. */
public final class CommandException extends Exception {
  private static final long serialVersionUID = 1L;

  /** The exit status. */
  private final int status;

  /**
   * Fails with exit status 1.
   *
   * @param message the line for the error stream
   */
  public CommandException(String message) {
    this(message, 1, null);
  }

  /**
   * Fails with exit status 1 because of something else, whose message is added after a colon.
   *
   * @param message the start of the line for the error stream
   * @param cause what went wrong
   */
  public CommandException(String message, Exception cause) {
    this(message + ": " + reason(cause), 1, cause);
  }

  /**
   * Fails.
   *
   * @param message the line for the error stream
   * @param status the exit status, 1 to 255
   * @param cause what went wrong, or null
   */
  public CommandException(String message, int status, Exception cause) {
    super(message, cause);
    this.status = status;
  }

  /** {@return the exit status} */
  public int status() {
    return status;
  }

  private static String reason(Exception cause) {
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }
}
