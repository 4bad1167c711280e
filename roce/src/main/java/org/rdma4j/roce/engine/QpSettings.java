package org.rdma4j.roce.engine;

import org.rdma4j.roce.link.Route;

/**
 * Attributes of a queue pair that the transport works with (kernel: {@code struct ib_qp_attr}). Changed by {@link
 * QpContext#modify} only, on the engine thread.
 */
public final class QpSettings {
  /** P_Key sent and accepted, 16 bits with the membership bit. */
  public int pkey = 0xffff;
  /** Where the P_Key is in the port's table. */
  public int pkeyIndex;
  /** Q_Key of datagrams. */
  public int qkey;
  /** Remote access bits of {@link RegisteredMemory} that requests of the peer may use. */
  public int access;
  /** Path MTU in bytes. */
  public int mtu = 256;
  /** Queue pair number of the peer. */
  public int destinationQp;
  /** Way to the peer; null for datagram services. */
  public Route route;
  /** First PSN expected from the peer. */
  public int receivePsn;
  /** First PSN of own requests. */
  public int sendPsn;
  /** Local ACK timeout exponent: 4.096 us times 2 to this power, 0 means for ever. */
  public int timeout;
  /** Retransmissions before giving up, 7 means for ever. */
  public int retryCount;
  /** RNR retries before giving up, 7 means for ever. */
  public int rnrRetry;
  /** Code of the delay asked for in RNR NAKs. */
  public int minRnrTimer;
  /** READs and atomics outstanding as initiator. */
  public int maxReadAtomic;
  /** READs and atomics accepted outstanding as responder. */
  public int maxDestinationReadAtomic;
  /** Raise an event when a drain is done. */
  public boolean notifyDrained;

  /** Makes the settings of a queue pair that was just created. */
  public QpSettings() {}

  /** {@return the local ACK timeout in nanoseconds, or {@link Long#MAX_VALUE} when there is none} */
  long timeoutNanos() {
    return timeout == 0 ? Long.MAX_VALUE : 4096L << timeout;
  }
}
