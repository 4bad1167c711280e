package org.rdma4j.ulp.udaddy;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** A run that failed: what is said on the error stream, and its status. */
final class Failure extends Exception {
  private static final long serialVersionUID = 1L;

  /** The status; negative for errors of this side. */
  private final int status;

  /** Whether the device is gone. */
  private final boolean removed;

  private Failure(String message, int status, boolean removed, Throwable cause) {
    super(message, cause);
    this.status = status;
    this.removed = removed;
  }

  /** Something failed, with a status. */
  Failure(String message, int status) {
    this(message, status, false, null);
  }

  /** A call failed: a line as the original has it, and one that tells what was asked and what is allowed. */
  Failure(String call, VerbsException e) {
    this("udaddy: " + call + ": " + e.errno().text() + "\nudaddy: " + e.getMessage(), -1, isRemoval(e), e);
  }

  /** The device is gone. */
  static Failure removal(String message) {
    return new Failure(message, -1, true, null);
  }

  private static boolean isRemoval(VerbsException e) {
    return e.errno() == Errno.ENODEV || e.errno() == Errno.EIO;
  }

  int status() {
    return status;
  }

  boolean isRemoval() {
    return removed;
  }
}
