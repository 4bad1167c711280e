package org.rdma4j.roce.engine;

/**
 * Counters of an engine. Those up to {@link #RDMA_RECVS} carry the names of the kernel's rxe, in its order
 * ({@code rxe_hw_counters.c}); the others count what the kernel does not.
 */
public enum EngineCounter {
  /** Packets handed to the link. */
  SENT_PKTS("sent_pkts"),
  /** Packets that reached a queue pair; one to a multicast group counts for each member it reached. */
  RCVD_PKTS("rcvd_pkts"),
  /** Requests executed before, answered again. */
  DUPLICATE_REQUEST("duplicate_request"),
  /** Requests ahead of the expected PSN. */
  OUT_OF_SEQ_REQUEST("out_of_seq_request"),
  /** RNR NAKs received. */
  RCVD_RNR_ERR("rcvd_rnr_err"),
  /** RNR NAKs sent. */
  SEND_RNR_ERR("send_rnr_err"),
  /** Sequence NAKs received. */
  RCVD_SEQ_ERR("rcvd_seq_err"),
  /** Acknowledges that one of a later request made unnecessary. */
  ACK_DEFERRED("ack_deferred"),
  /** Work requests failed for want of an answer. */
  RETRY_EXCEEDED_ERR("retry_exceeded_err"),
  /** Work requests failed for want of a receive at the peer. */
  RETRY_RNR_EXCEEDED_ERR("retry_rnr_exceeded_err"),
  /** Retransmissions begun. */
  COMPLETER_RETRY_ERR("completer_retry_err"),
  /** Packets the network refused. */
  SEND_ERR("send_err"),
  /** Times the link went down. */
  LINK_DOWNED("link_downed"),
  /** Send work requests completed. */
  RDMA_SENDS("rdma_sends"),
  /** Receive work requests completed. */
  RDMA_RECVS("rdma_recvs"),
  /** Packets dropped: too short, wrong version, unknown opcode. */
  DROPPED_MALFORMED("dropped_malformed"),
  /** Packets dropped: no such queue pair, or not of its service, state or peer. */
  DROPPED_NO_QP("dropped_no_qp"),
  /** Packets dropped: P_Key does not match. */
  BAD_PKEY("bad_pkey"),
  /** Packets dropped: Q_Key does not match. */
  BAD_QKEY("bad_qkey"),
  /** Datagrams and unreliable messages dropped for want of a fitting receive. */
  DROPPED_NO_RECEIVE("dropped_no_receive"),
  /** Unexpected exceptions. */
  FAULTS("engine_faults");

  private final String label;

  EngineCounter(String label) {
    this.label = label;
  }

  /** {@return the name of the counter, as {@code rdma statistic} prints it} */
  public String label() {
    return label;
  }
}
