package org.rdma4j.ib.core.verbs;

/** Status of a work completion with the kernel's numbers and rdma-core's texts ({@code enum ib_wc_status}). */
public enum WcStatus {
  /** The work is done. */
  SUCCESS("success"),
  /** The length does not fit the local buffers or the message limits. */
  LOC_LEN_ERR("local length error"),
  /** The request cannot be executed by the queue pair. */
  LOC_QP_OP_ERR("local QP operation error"),
  /** Error of an EE context. */
  LOC_EEC_OP_ERR("local EE context operation error"),
  /** A local key, its range or its rights do not allow the access. */
  LOC_PROT_ERR("local protection error"),
  /** The queue pair was in error before the work was done. */
  WR_FLUSH_ERR("Work Request Flushed Error"),
  /** Binding a memory window failed. */
  MW_BIND_ERR("memory management operation error"),
  /** The response made no sense. */
  BAD_RESP_ERR("bad response error"),
  /** A protection error of a remote write with immediate. */
  LOC_ACCESS_ERR("local access error"),
  /** The responder refused the request as invalid. */
  REM_INV_REQ_ERR("remote invalid request error"),
  /** The responder refused the access. */
  REM_ACCESS_ERR("remote access error"),
  /** The responder could not complete the operation. */
  REM_OP_ERR("remote operation error"),
  /** No answer in spite of all retries. */
  RETRY_EXC_ERR("transport retry counter exceeded"),
  /** The responder was not ready in spite of all retries. */
  RNR_RETRY_EXC_ERR("RNR retry counter exceeded"),
  /** Violation of a reliable datagram domain. */
  LOC_RDD_VIOL_ERR("local RDD violation error"),
  /** Invalid reliable datagram request. */
  REM_INV_RD_REQ_ERR("remote invalid RD request"),
  /** The remote side aborted. */
  REM_ABORT_ERR("aborted error"),
  /** Invalid EE context number. */
  INV_EECN_ERR("invalid EE context number"),
  /** Invalid EE context state. */
  INV_EEC_STATE_ERR("invalid EE context state"),
  /** Catastrophic error. */
  FATAL_ERR("fatal error"),
  /** No response in time. */
  RESP_TIMEOUT_ERR("response timeout error"),
  /** Any other error. */
  GENERAL_ERR("general error");

  private static final WcStatus[] VALUES = values();

  private final String text;

  WcStatus(String text) {
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return what {@code ibv_wc_status_str} says} */
  public String text() {
    return text;
  }

  /**
   * Finds a status by its number without allocating.
   *
   * @param number 0 to 21
   * @return the status
   */
  public static WcStatus of(int number) {
    return VALUES[number];
  }
}
