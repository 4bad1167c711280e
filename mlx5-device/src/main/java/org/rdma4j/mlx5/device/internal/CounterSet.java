package org.rdma4j.mlx5.device.internal;

import org.rdma4j.roce.engine.CompletionStatus;

/** What is counted for the queue pairs of one Q counter. Engine thread. */
final class CounterSet {
  /** Counts for nobody. */
  static final CounterSet NONE = new CounterSet(0);

  private final int number;
  int users;
  long responderLocalLength;
  long requesterLocalLength;
  long responderLocalOperation;
  long requesterLocalOperation;
  long responderProtection;
  long requesterProtection;
  long responderCqeErrors;
  long requesterCqeErrors;
  long requesterBind;
  long requesterBadResponse;
  long requesterRemoteInvalid;
  long requesterRemoteAccess;
  long requesterRemoteOperation;
  long responderRemoteInvalid;
  long responderRemoteAccess;
  long requesterRetries;
  long requesterRnrRetries;
  long responderFlushed;
  long requesterFlushed;
  long cqOverflow;

  CounterSet(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  void ofRequester(CompletionStatus status) {
    switch (status) {
      case SUCCESS -> {
        return;
      }
      case LOCAL_LENGTH_ERROR -> requesterLocalLength++;
      case LOCAL_QP_OPERATION_ERROR -> requesterLocalOperation++;
      case LOCAL_PROTECTION_ERROR -> requesterProtection++;
      case MEMORY_WINDOW_BIND_ERROR -> requesterBind++;
      case BAD_RESPONSE -> requesterBadResponse++;
      case REMOTE_INVALID_REQUEST -> requesterRemoteInvalid++;
      case REMOTE_ACCESS_ERROR -> requesterRemoteAccess++;
      case REMOTE_OPERATION_ERROR -> requesterRemoteOperation++;
      case RETRY_EXCEEDED -> requesterRetries++;
      case RNR_RETRY_EXCEEDED -> requesterRnrRetries++;
      case FLUSHED -> requesterFlushed++;
      default -> {
        // Counted below only.
      }
    }
    requesterCqeErrors++;
  }

  void ofResponder(CompletionStatus status) {
    switch (status) {
      case SUCCESS -> {
        return;
      }
      case LOCAL_LENGTH_ERROR -> responderLocalLength++;
      case LOCAL_QP_OPERATION_ERROR -> responderLocalOperation++;
      case LOCAL_PROTECTION_ERROR -> responderProtection++;
      case FLUSHED -> responderFlushed++;
      default -> {
        // Counted below only.
      }
    }
    responderCqeErrors++;
  }

  /** Begins to count anew. */
  void clear() {
    responderLocalLength = 0;
    requesterLocalLength = 0;
    responderLocalOperation = 0;
    requesterLocalOperation = 0;
    responderProtection = 0;
    requesterProtection = 0;
    responderCqeErrors = 0;
    requesterCqeErrors = 0;
    requesterBind = 0;
    requesterBadResponse = 0;
    requesterRemoteInvalid = 0;
    requesterRemoteAccess = 0;
    requesterRemoteOperation = 0;
    responderRemoteInvalid = 0;
    responderRemoteAccess = 0;
    requesterRetries = 0;
    requesterRnrRetries = 0;
    responderFlushed = 0;
    requesterFlushed = 0;
    cqOverflow = 0;
  }
}
