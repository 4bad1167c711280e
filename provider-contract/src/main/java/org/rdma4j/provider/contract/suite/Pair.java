package org.rdma4j.provider.contract.suite;

/** Two sides whose queue pairs are connected. */
record Pair(Side a, Side b, Way way) {
  void connect() {
    a.connect(a.qp(), b, b.qp().number(), way);
    b.connect(b.qp(), a, a.qp().number(), way);
  }

  /** Both back to RESET, and up again. */
  void reconnect() {
    a.reset(a.qp());
    b.reset(b.qp());
    connect();
  }

  Pair turned() {
    return new Pair(b, a, way);
  }
}
