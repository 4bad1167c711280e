package org.rdma4j.provider.contract.suite;

/** A promise is not kept; the message tells what was found. */
public final class Broken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Broken(String message) {
    super(message);
  }

  /**
   * For what another failure tells.
   *
   * @param message what was found
   * @param cause the other failure
   */
  public Broken(String message, Throwable cause) {
    super(message, cause);
  }
}
