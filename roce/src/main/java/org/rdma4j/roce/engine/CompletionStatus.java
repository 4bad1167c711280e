package org.rdma4j.roce.engine;

/** How a work request ended; numbers of {@code enum ib_wc_status}. */
public enum CompletionStatus {
  /** Done. */
  SUCCESS(0),
  /** The message does not fit the receive, or is longer than the port carries. */
  LOCAL_LENGTH_ERROR(1),
  /** The work request itself is not valid for this queue pair. */
  LOCAL_QP_OPERATION_ERROR(2),
  /** A local key does not cover the memory named, or its memory is gone. */
  LOCAL_PROTECTION_ERROR(4),
  /** Not executed: the queue pair was in error. */
  FLUSHED(5),
  /** A memory window could not be bound. */
  MEMORY_WINDOW_BIND_ERROR(6),
  /** The responder answered with something that does not fit the request. */
  BAD_RESPONSE(7),
  /** Local memory was protected against the access of an incoming request. */
  LOCAL_ACCESS_ERROR(8),
  /** The responder found the request invalid. */
  REMOTE_INVALID_REQUEST(9),
  /** The responder's memory is protected against the request. */
  REMOTE_ACCESS_ERROR(10),
  /** The responder could not complete the request. */
  REMOTE_OPERATION_ERROR(11),
  /** No answer after all retries. */
  RETRY_EXCEEDED(12),
  /** The responder had no receive posted, retry after retry. */
  RNR_RETRY_EXCEEDED(13),
  /** The engine met an error of its own. */
  FATAL(19);

  private final int number;

  CompletionStatus(int number) {
    this.number = number;
  }

  /** {@return the number that verbs report} */
  public int number() {
    return number;
  }
}
