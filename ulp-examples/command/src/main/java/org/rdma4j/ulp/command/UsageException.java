package org.rdma4j.ulp.command;

/** A command line that a command does not understand. The message is what {@code getopt} would print. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Says what is not understood.
   *
   * @param message starts with the name of the command
   */
  public UsageException(String message) {
    super(message);
  }
}
