package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Ends the activation of a link that cannot be made. The reason is one for the person who wrote the configuration,
 * so it carries no stack.
 */
final class NoDeviceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoDeviceException(VerbsException reason) {
    super(reason.toString(), null, false, false);
  }

  @Override
  public String toString() {
    return getMessage();
  }
}
