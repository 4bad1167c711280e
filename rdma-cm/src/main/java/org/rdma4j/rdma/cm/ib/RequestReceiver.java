package org.rdma4j.rdma.cm.ib;

import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_RCVD;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Req;
import org.rdma4j.rdma.cm.message.SidrReq;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** Messages that make a new id (kernel: {@code cm_req_handler}, {@code cm_sidr_req_handler}). */
final class RequestReceiver {
  private static final byte[] NOTHING = {};
  private static final int GID_BYTES = 16;

  private final IbCm manager;

  RequestReceiver(IbCm manager) {
    this.manager = manager;
  }

  CmReceiver.Happened req(CmPort port, ReceivedCm message) {
    MemorySegment mad = message.mad();
    long serviceId = Req.SERVICE_ID.get(mad);
    CmId earlier = manager.tables.remoteId(Req.LOCAL_COMM_ID.getInt(mad), Req.LOCAL_CA_GUID.get(mad));
    if (earlier != null) {
      repeated(earlier);
      return null;
    }
    CmId listener = manager.tables.listener(port.device(), serviceId);
    QpType type = CmMessages.qpType(mad);
    CmId id = new CmId(manager, port, listener == null ? null : listener.handler(), REQ_RCVD);
    fill(id, message, type);
    CmId stale = manager.tables.addRemoteQp(id);
    if (stale != null) {
      refuse(port, message.from(), CmMessages.rej(mad, CmMessages.ABOUT_REQ, RejectReason.STALE_CONN, NOTHING));
      endStale(stale);
      return null;
    }
    RejectReason reason = reason(listener, type, id);
    if (reason != null) {
      manager.tables.removeRemote(id);
      byte[] ari = reason == RejectReason.INVALID_GID ? bytes(port.gid()) : NOTHING;
      refuse(port, message.from(), CmMessages.rej(mad, CmMessages.ABOUT_REQ, reason, ari));
      return null;
    }
    manager.tables.addRemoteId(id);
    manager.add(id);
    return new CmReceiver.Happened(id, reqReceived(listener, id.connection, mad));
  }

  private RejectReason reason(CmId listener, QpType type, CmId id) {
    if (listener == null) {
      return RejectReason.INVALID_SERVICE_ID;
    }
    if (type == null) {
      return RejectReason.INVALID_TRANSPORT_TYPE;
    }
    if (id.connection.path.mtu() == null) {
      return RejectReason.INVALID_MTU;
    }
    try {
      id.port().way(id.connection.address);
      id.port().pkeyIndex(id.connection.address);
      return null;
    } catch (VerbsException e) {
      manager.log("there is no way to who asks for a connection", e);
      return RejectReason.INVALID_GID;
    }
  }

  private static byte[] bytes(Gid gid) {
    byte[] bytes = new byte[GID_BYTES];
    gid.writeTo(MemorySegment.ofArray(bytes), 0);
    return bytes;
  }

  /** A request that came before: the peer has not got what answered it, or nobody has answered yet. */
  private void repeated(CmId id) {
    id.port().counters().countDuplicate(CmAttribute.REQ);
    if (id.state() == MRA_REQ_SENT) {
      id.tellAgain(CmAttribute.MRA, CmMessages.mra(id, CmMessages.ABOUT_REQ));
    }
  }

  /** What a request says, from this side: who asks for what there is what is served here. */
  private static void fill(CmId id, ReceivedCm message, QpType type) {
    MemorySegment mad = message.mad();
    Connection connection = id.connection;
    connection.remoteId = Req.LOCAL_COMM_ID.getInt(mad);
    connection.remoteCaGuid = Req.LOCAL_CA_GUID.get(mad);
    connection.remoteQpn = Req.LOCAL_QPN.getInt(mad);
    connection.serviceId = Req.SERVICE_ID.get(mad);
    connection.transactionId = MadHeader.TRANSACTION_ID.get(mad);
    connection.qpType = type;
    connection.timeout = CmTimes.milliseconds(Req.LOCAL_CM_RESPONSE_TIMEOUT.getInt(mad));
    connection.maxRetries = Req.MAX_CM_RETRIES.getInt(mad);
    connection.initiatorDepth = Req.RESPONDER_RESOURCES.getInt(mad);
    connection.responderResources = Req.INITIATOR_DEPTH.getInt(mad);
    connection.sqPsn = Req.STARTING_PSN.getInt(mad);
    connection.retryCount = Req.RETRY_COUNT.getInt(mad);
    connection.rnrRetryCount = Req.RNR_RETRY_COUNT.getInt(mad);
    CmAddress address =
        new CmAddress(
            message.from().local(), // The GID that is there, whatever the peer calls it.
            Req.PRIMARY_LOCAL_PORT_GID.getGid(mad),
            Req.PARTITION_KEY.getInt(mad),
            Req.PRIMARY_TRAFFIC_CLASS.getInt(mad),
            Req.PRIMARY_FLOW_LABEL.getInt(mad),
            message.from().hopLimit(),
            Req.PRIMARY_SL.getInt(mad));
    int ackTimeout = Req.PRIMARY_LOCAL_ACK_TIMEOUT.getInt(mad);
    int lifeTime = Math.max(0, ackTimeout - 1);
    int mtu = Req.PATH_PACKET_PAYLOAD_MTU.getInt(mad);
    boolean known = mtu >= PathMtu.MTU_256.code() && mtu <= PathMtu.MTU_4096.code();
    connection.address = address;
    connection.path =
        new CmPath(address, known ? PathMtu.ofCode(mtu) : null, Req.PRIMARY_PACKET_RATE.getInt(mad), lifeTime);
    connection.ackTimeout = lifeTime + 1;
  }

  private static CmEvent reqReceived(CmId listener, Connection connection, MemorySegment mad) {
    return new CmEvent.ReqReceived(
        listener,
        connection.path,
        connection.remoteCaGuid,
        connection.remoteQpn,
        connection.qpType,
        connection.sqPsn,
        connection.responderResources,
        connection.initiatorDepth,
        connection.retryCount,
        connection.rnrRetryCount,
        Req.END_TO_END_FLOW_CONTROL.isSet(mad),
        Req.SRQ.isSet(mad),
        Req.VENDOR_ID.getInt(mad),
        MadHeader.ATTRIBUTE_MODIFIER.getInt(mad),
        Req.PRIVATE_DATA.get(mad));
  }

  CmReceiver.Happened sidrReq(CmPort port, ReceivedCm message) {
    MemorySegment mad = message.mad();
    int requestId = SidrReq.REQUEST_ID.getInt(mad);
    long serviceId = SidrReq.SERVICE_ID.get(mad);
    CmId listener = manager.tables.listener(port.device(), serviceId);
    if (listener == null) {
      long transactionId = MadHeader.TRANSACTION_ID.get(mad);
      port.counters().countSent(CmAttribute.SIDR_REP);
      port.send(
          CmMessages.sidrRep(requestId, serviceId, transactionId, SidrStatus.UNSUPPORTED), message.from());
      return null;
    }
    CmId id = new CmId(manager, port, listener.handler(), SIDR_REQ_RCVD);
    Connection connection = id.connection;
    connection.remoteId = requestId;
    connection.serviceId = serviceId;
    connection.transactionId = MadHeader.TRANSACTION_ID.get(mad);
    connection.address = message.from();
    if (!manager.tables.addQuestion(id, requestId, message.from().remote())) {
      port.counters().countDuplicate(CmAttribute.SIDR_REQ);
      return null;
    }
    manager.add(id);
    int pkey = SidrReq.PARTITION_KEY.getInt(mad);
    return new CmReceiver.Happened(
        id, new CmEvent.SidrReqReceived(listener, message.from().local(), pkey, SidrReq.PRIVATE_DATA.get(mad)));
  }

  void refuse(CmPort port, CmAddress to, MemorySegment refusal) {
    port.counters().countSent(CmAttribute.REJ);
    port.send(refusal, to);
  }

  /** The peer has begun a new life with the queue pair of an old connection, which is over then. */
  void endStale(CmId stale) {
    if (stale.state() == ESTABLISHED) {
      try {
        stale.end(NOTHING);
      } catch (VerbsException e) {
        manager.log("the end of stale {} could not be sent", stale, e);
      }
    }
  }
}
