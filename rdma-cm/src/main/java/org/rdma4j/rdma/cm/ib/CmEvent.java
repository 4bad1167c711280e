package org.rdma4j.rdma.cm.ib;

import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.roce.address.Gid;

/**
 * What happens to an id (kernel: {@code struct ib_cm_event}). Private data come whole, as long as the message has room
 * for, with zeros behind what the peer wrote.
 */
public sealed interface CmEvent {
  /**
   * A peer wants a connection; the id is new and has the listener's handler.
   *
   * @param listener the id that listens
   * @param path as this side uses it
   * @param remoteCaGuid node of the peer
   * @param remoteQpn queue pair of the peer
   * @param qpType RC, UC or XRC target
   * @param startingPsn first PSN that this side sends
   * @param responderResources reads and atomics that this side is asked to serve
   * @param initiatorDepth reads and atomics that this side may have outstanding
   * @param retryCount of the peer, 3 bits
   * @param rnrRetryCount of the peer, 3 bits
   * @param flowControl end-to-end flow control
   * @param srq whether the peer's queue pair takes receives from a shared queue
   * @param vendorId of the peer's enhanced connection options
   * @param attributeModifier the peer's enhanced connection options
   */
  record ReqReceived(
      CmId listener,
      CmPath path,
      long remoteCaGuid,
      int remoteQpn,
      QpType qpType,
      int startingPsn,
      int responderResources,
      int initiatorDepth,
      int retryCount,
      int rnrRetryCount,
      boolean flowControl,
      boolean srq,
      int vendorId,
      int attributeModifier,
      byte[] privateData)
      implements CmEvent {}

  /** There was no answer to the REQ. */
  record ReqError() implements CmEvent {}

  /**
   * The peer agrees.
   *
   * @param remoteQpn queue pair of the peer
   * @param startingPsn first PSN that this side sends
   * @param responderResources reads and atomics that this side is asked to serve
   * @param initiatorDepth reads and atomics that this side may have outstanding
   * @param failoverAccepted 2 bits
   * @param rnrRetryCount 3 bits
   * @param flowControl end-to-end flow control
   * @param srq whether the peer's queue pair takes receives from a shared queue
   * @param vendorId of the peer's enhanced connection options
   * @param attributeModifier the peer's enhanced connection options
   */
  record RepReceived(
      long remoteCaGuid,
      int remoteQpn,
      int startingPsn,
      int responderResources,
      int initiatorDepth,
      int failoverAccepted,
      int rnrRetryCount,
      boolean flowControl,
      boolean srq,
      int vendorId,
      int attributeModifier,
      byte[] privateData)
      implements CmEvent {}

  /** There was no answer to the REP. */
  record RepError() implements CmEvent {}

  /** The peer is ready, too. */
  record RtuReceived(byte[] privateData) implements CmEvent {}

  /** The peer is ready, since its first packet came before its RTU. */
  record UserEstablished() implements CmEvent {}

  /** The peer ends the connection. */
  record DreqReceived(byte[] privateData) implements CmEvent {}

  /** There was no answer to the DREQ; the connection is over all the same. */
  record DreqError() implements CmEvent {}

  /** The peer confirms the end. */
  record DrepReceived(byte[] privateData) implements CmEvent {}

  /** No packet of the connection can come any more. */
  record TimewaitExit() implements CmEvent {}

  /** The peer needs more time; {@code serviceTimeout} is the exponent of it. */
  record MraReceived(int serviceTimeout, byte[] privateData) implements CmEvent {}

  /**
   * The peer refuses.
   *
   * @param reason number of the reason, see {@link RejectReason}
   * @param ari additional information, as long as the peer says
   */
  record RejReceived(int reason, byte[] ari, byte[] privateData) implements CmEvent {}

  /**
   * Somebody asks for the queue pair of a service; the id is new and has the listener's handler.
   *
   * @param listener the id that listens
   * @param local GID to which the question came
   * @param pkey of the question
   */
  record SidrReqReceived(CmId listener, Gid local, int pkey, byte[] privateData) implements CmEvent {}

  /** There was no answer to the SIDR_REQ. */
  record SidrReqError() implements CmEvent {}

  /**
   * The answer to a SIDR_REQ.
   *
   * @param status number of what became of it, see {@link SidrStatus}
   * @param qpn queue pair of the service
   * @param qkey its Q_Key
   * @param vendorId of the peer's enhanced connection options
   * @param attributeModifier the peer's enhanced connection options
   * @param information additional information, as long as the peer says
   */
  record SidrRepReceived(
      int status,
      int qpn,
      int qkey,
      int vendorId,
      int attributeModifier,
      byte[] information,
      byte[] privateData)
      implements CmEvent {}
}
