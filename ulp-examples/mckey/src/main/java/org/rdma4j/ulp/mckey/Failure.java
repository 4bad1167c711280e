package org.rdma4j.ulp.mckey;

import org.rdma4j.ib.core.verbs.VerbsException;

/** A run that failed: what is said on the error stream, and its status. */
final class Failure extends Exception {
  private static final long serialVersionUID = 1L;

  /** The status; negative for errors of this side. */
  private final int status;

  /** Something failed, with a status. */
  Failure(String message, int status) {
    super(message);
    this.status = status;
  }

  /** A call failed: a line as the original has it, and one that tells what was asked and what is allowed. */
  Failure(String call, VerbsException e) {
    super("mckey: " + call + ": " + e.errno().text() + "\nmckey: " + e.getMessage(), e);
    this.status = -1;
  }

  int status() {
    return status;
  }
}
