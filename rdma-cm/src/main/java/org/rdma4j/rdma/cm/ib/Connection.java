package org.rdma4j.rdma.cm.ib;

import org.rdma4j.ib.core.verbs.QpType;

/** What an id knows of its connection (kernel: {@code struct cm_id_private}). Guarded by the manager's lock. */
final class Connection {
  int remoteId;
  long remoteCaGuid;
  int remoteQpn;
  int localQpn;
  QpType qpType;
  long serviceId;
  long transactionId;

  /** The way of messages; also that of the queue pairs. */
  CmAddress address;

  CmPath path;

  /** Exponent of the local ACK timeout, and how long TIMEWAIT takes. */
  int ackTimeout;

  /** First PSN that this side sends. */
  int sqPsn;

  /** First PSN that this side expects. */
  int rqPsn;

  int initiatorDepth;
  int responderResources;
  int retryCount;
  int rnrRetryCount;

  /** How long an answer is waited for, in milliseconds, and how often asked again. */
  long timeout;

  int maxRetries;

  /** Exponent that an MRA says when it is sent later. */
  int serviceTimeout;

  /** What goes once more with a message that is sent once more. */
  byte[] privateData = {};

  CmTables.Remote remoteKey() {
    return new CmTables.Remote(remoteId, remoteCaGuid);
  }

  CmTables.Remote remoteQpKey() {
    return new CmTables.Remote(remoteQpn, remoteCaGuid);
  }
}
