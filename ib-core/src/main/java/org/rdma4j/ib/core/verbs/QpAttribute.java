package org.rdma4j.ib.core.verbs;

/** Attributes of {@link QueuePair#modify}, with the kernel's mask bits ({@code enum ib_qp_attr_mask}). */
public enum QpAttribute {
  /** The next state. */
  STATE(0),
  /** The state the caller believes to be current. */
  CUR_STATE(1),
  /** Whether the end of a drain raises an event. */
  EN_SQD_ASYNC_NOTIFY(2),
  /** Rights of the peer. */
  ACCESS_FLAGS(3),
  /** Index in the P_Key table. */
  PKEY_INDEX(4),
  /** Port number. */
  PORT(5),
  /** Q_Key. */
  QKEY(6),
  /** Address vector of the peer. */
  AV(7),
  /** Path MTU. */
  PATH_MTU(8),
  /** Timeout for an acknowledgement. */
  TIMEOUT(9),
  /** Retries after a timeout or sequence error. */
  RETRY_CNT(10),
  /** Retries after receiver-not-ready. */
  RNR_RETRY(11),
  /** First packet sequence number of the peer. */
  RQ_PSN(12),
  /** Own outstanding reads and atomics. */
  MAX_QP_RD_ATOMIC(13),
  /** Alternate path. */
  ALT_PATH(14),
  /** Timer code in our receiver-not-ready answers. */
  MIN_RNR_TIMER(15),
  /** Own first packet sequence number. */
  SQ_PSN(16),
  /** Outstanding reads and atomics of the peer. */
  MAX_DEST_RD_ATOMIC(17),
  /** Path migration state. */
  PATH_MIG_STATE(18),
  /** Queue sizes. */
  CAP(19),
  /** Queue pair number of the peer. */
  DEST_QPN(20),
  /** Rate limit. */
  RATE_LIMIT(25);

  private final int position;

  QpAttribute(int position) {
    this.position = position;
  }

  /** {@return the bit in the mask} */
  public int bit() {
    return 1 << position;
  }
}
