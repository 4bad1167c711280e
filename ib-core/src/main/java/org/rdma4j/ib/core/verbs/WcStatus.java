package org.rdma4j.ib.core.verbs;

/** Status of a work completion with the kernel's numbers and rdma-core's texts ({@code enum ib_wc_status}). */
public enum WcStatus {
  /** The work is done. */
  SUCCESS(
      "success",
      "the work is done"),
  /** The length does not fit the local buffers or the message limits. */
  LOC_LEN_ERR(
      "local length error",
      "found on this side: the message is longer than the local buffers or than max_msg_sz; a receive"
          + " fails so when a longer SEND meets it"),
  /** The request cannot be executed by the queue pair. */
  LOC_QP_OP_ERR(
      "local QP operation error",
      "found on this side: the queue pair cannot execute the request as it was posted, such as an opcode"
          + " its type does not have, a malformed request or an address handle of another protection domain"),
  /** Error of an EE context. */
  LOC_EEC_OP_ERR(
      "local EE context operation error",
      "found on this side, in an EE context of reliable datagrams, which no device here has"),
  /** A local key, its range or its rights do not allow the access. */
  LOC_PROT_ERR(
      "local protection error",
      "found on this side: a local key is wrong, or its memory does not have the range, the rights or the"
          + " protection domain; remote addresses play no part"),
  /** The queue pair was in error before the work was done. */
  WR_FLUSH_ERR(
      "Work Request Flushed Error",
      "nothing is wrong with this request: the queue pair was in the error state before it was executed;"
          + " the first completion with another status tells why"),
  /** Binding a memory window failed. */
  MW_BIND_ERR(
      "memory management operation error",
      "found on this side: the memory window could not be bound, because of its state, its region or the"
          + " rights asked for"),
  /** The response made no sense. */
  BAD_RESP_ERR(
      "bad response error",
      "found on this side: a response does not fit the request that it answers"),
  /** A protection error of a remote write with immediate. */
  LOC_ACCESS_ERR(
      "local access error",
      "found on this side: a WRITE with immediate of the peer did not have access to the memory"),
  /** The responder refused the request as invalid. */
  REM_INV_REQ_ERR(
      "remote invalid request error",
      "found on the other side: it refuses the request, because of an operation it does not allow, a"
          + " length, or more READs and atomics than it takes; it is in error too"),
  /** The responder refused the access. */
  REM_ACCESS_ERR(
      "remote access error",
      "found on the other side: remote key, address range or rights of the request do not fit the memory"
          + " there; it is in error too"),
  /** The responder could not complete the operation. */
  REM_OP_ERR(
      "remote operation error",
      "found on the other side: it could not carry the request out for a reason of its own, such as a"
          + " receive that names memory it may not write"),
  /** No answer in spite of all retries. */
  RETRY_EXC_ERR(
      "transport retry counter exceeded",
      "no answer came: the other side is gone, not connected to this queue pair, in error, or cannot be"
          + " reached; or all packets were lost"),
  /** The responder was not ready in spite of all retries. */
  RNR_RETRY_EXC_ERR(
      "RNR retry counter exceeded",
      "the other side had no receive posted, as often as it was asked"),
  /** Violation of a reliable datagram domain. */
  LOC_RDD_VIOL_ERR(
      "local RDD violation error",
      "found on this side, of reliable datagrams, which no device here has"),
  /** Invalid reliable datagram request. */
  REM_INV_RD_REQ_ERR(
      "remote invalid RD request",
      "found on the other side, of reliable datagrams, which no device here has"),
  /** The remote side aborted. */
  REM_ABORT_ERR(
      "aborted error",
      "the other side gave the operation up"),
  /** Invalid EE context number. */
  INV_EECN_ERR(
      "invalid EE context number",
      "of reliable datagrams, which no device here has"),
  /** Invalid EE context state. */
  INV_EEC_STATE_ERR(
      "invalid EE context state",
      "of reliable datagrams, which no device here has"),
  /** Catastrophic error. */
  FATAL_ERR(
      "fatal error",
      "the device or its driver failed"),
  /** No response in time. */
  RESP_TIMEOUT_ERR(
      "response timeout error",
      "an answer to a request of management did not come in time"),
  /** Any other error. */
  GENERAL_ERR(
      "general error",
      "an error that has no other status");

  private static final WcStatus[] VALUES = values();

  private final String text;
  private final String explanation;

  WcStatus(String text, String explanation) {
    this.text = text;
    this.explanation = explanation;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return what {@code ibv_wc_status_str} says} */
  public String text() {
    return text;
  }

  /** {@return who found what, and what the usual reasons are; a clause of a sentence for a person} */
  public String explanation() {
    return explanation;
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
