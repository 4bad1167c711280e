package org.rdma4j.roce.engine;

/** One receive work request, copied out of its ring (kernel: {@code struct rxe_recv_wqe}). */
public final class ReceiveWork {
  /** Identifies the request to its owner. */
  public long id;
  /** Memory to receive into. */
  public final ScatterGather sge;

  /**
   * Makes an empty one.
   *
   * @param maxSge largest number of scatter elements
   */
  public ReceiveWork(int maxSge) {
    sge = new ScatterGather(maxSge);
  }
}
