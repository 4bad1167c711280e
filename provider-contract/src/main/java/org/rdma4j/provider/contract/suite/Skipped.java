package org.rdma4j.provider.contract.suite;

/** A promise cannot be tried; the message tells why. */
public final class Skipped extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Skipped(String reason) {
    super(reason);
  }
}
