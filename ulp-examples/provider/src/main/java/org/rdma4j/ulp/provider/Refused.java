package org.rdma4j.ulp.provider;

import org.rdma4j.ib.core.verbs.WcStatus;

/** A request that ends with an error. */
final class Refused extends Exception {
  private static final long serialVersionUID = 1L;

  private final WcStatus status;

  Refused(WcStatus status) {
    super(status.text(), null, false, false);
    this.status = status;
  }

  WcStatus status() {
    return status;
  }
}
