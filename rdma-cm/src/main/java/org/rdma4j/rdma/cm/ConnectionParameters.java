package org.rdma4j.rdma.cm;

import java.util.Objects;

/**
 * What one side says of a connection ({@code struct rdma_conn_param}); immutable, the {@code with} methods give changed
 * copies.
 *
 * @param privateData for the peer: of a request at most 56 bytes, of its acceptance at most 196
 * @param responderResources reads and atomics of the peer that this side serves at once; {@link #MOST} for as many as
 *     the device can
 * @param initiatorDepth reads and atomics that this side wants to have outstanding; {@link #MOST} for as many as the
 *     device can
 * @param flowControl end-to-end flow control, of which nothing is known to use it
 * @param retryCount how often an unacknowledged packet is sent again, 0 to 7; only in a request
 * @param rnrRetryCount how often what the peer was not ready for is sent again, 0 to 6, 7 without end
 * @param srq whether the queue pair takes receives from a shared queue; of an identifier with a queue pair that says it
 * @param qpNumber the queue pair; of an identifier with a queue pair that says it
 */
public record ConnectionParameters(
    byte[] privateData,
    int responderResources,
    int initiatorDepth,
    boolean flowControl,
    int retryCount,
    int rnrRetryCount,
    boolean srq,
    int qpNumber) {
  /** As many as the device can ({@code RDMA_MAX_RESP_RES}, {@code RDMA_MAX_INIT_DEPTH}). */
  public static final int MOST = 0xff;

  /** As many reads as the device can, 7 retries of either kind, no private data. */
  public static final ConnectionParameters DEFAULT =
      new ConnectionParameters(new byte[0], MOST, MOST, false, 7, 7, false, 0);

  /** Takes the private data over. */
  public ConnectionParameters {
    Objects.requireNonNull(privateData, "privateData");
  }

  /**
   * Other private data.
   *
   * @param data for the peer
   * @return a copy with it
   */
  public ConnectionParameters withPrivateData(byte[] data) {
    return new ConnectionParameters(
        data.clone(), responderResources, initiatorDepth, flowControl, retryCount, rnrRetryCount, srq, qpNumber);
  }

  /**
   * Other numbers of reads and atomics.
   *
   * @param resources served at once, 0 to 255
   * @param depth outstanding, 0 to 255
   * @return a copy with them
   */
  public ConnectionParameters withDepths(int resources, int depth) {
    return new ConnectionParameters(
        privateData, resources, depth, flowControl, retryCount, rnrRetryCount, srq, qpNumber);
  }

  /**
   * Other numbers of retries.
   *
   * @param retries of unacknowledged packets, 0 to 7
   * @param rnrRetries of what the peer was not ready for, 0 to 6, 7 without end
   * @return a copy with them
   */
  public ConnectionParameters withRetries(int retries, int rnrRetries) {
    return new ConnectionParameters(
        privateData, responderResources, initiatorDepth, flowControl, retries, rnrRetries, srq, qpNumber);
  }

  /**
   * Another queue pair, which the identifier did not make.
   *
   * @param number its number, 24 bits
   * @param shared whether it takes receives from a shared queue
   * @return a copy with it
   */
  public ConnectionParameters withQueuePair(int number, boolean shared) {
    return new ConnectionParameters(
        privateData, responderResources, initiatorDepth, flowControl, retryCount, rnrRetryCount, shared, number);
  }
}
