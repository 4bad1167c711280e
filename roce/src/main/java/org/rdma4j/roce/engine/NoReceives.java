package org.rdma4j.roce.engine;

/** What queue pairs of an extended reliable connection have in place of a receive queue of their own. */
public enum NoReceives implements ReceiveSource {
  /** Of an initiator, which takes no requests. */
  INITIATOR,
  /** Of a target, which takes receives of the shared queues of its XRC domain. */
  TARGET;

  @Override
  public boolean take(ReceiveWork work) {
    return false;
  }

  @Override
  public boolean isShared() {
    return this == TARGET;
  }
}
