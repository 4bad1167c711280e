package org.rdma4j.mlx5.ib;

/** Somebody who wants to know when the card has executed a request about a memory key. */
interface LocalWork {
  /**
   * The request is over; for who polls, so it neither blocks nor allocates.
   *
   * @param key the key that it was about, as it is when the request succeeded
   * @param success whether it was executed
   */
  void done(int key, boolean success);
}
