package org.rdma4j.ulp.rdmaclient;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** A run that failed: what is said on the error stream, and its status. */
final class Failure extends Exception {
  private static final long serialVersionUID = 1L;

  /** The status; negative for errors of this side. */
  private final int status;

  /** Whether the device is gone. */
  private final boolean removed;

  /** Something failed, with a status. */
  Failure(String message, int status) {
    super(message);
    this.status = status;
    this.removed = false;
  }

  /** A call failed: a line as the original has it, and one that tells what was asked and what is allowed. */
  Failure(String program, String call, VerbsException e) {
    super(call + ": " + e.errno().text() + "\n" + program + ": " + e.getMessage(), e);
    this.status = -1;
    this.removed = e.errno() == Errno.ENODEV || e.errno() == Errno.EIO;
  }

  int status() {
    return status;
  }

  boolean isRemoval() {
    return removed;
  }
}
