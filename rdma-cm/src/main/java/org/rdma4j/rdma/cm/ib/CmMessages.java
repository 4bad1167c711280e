package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Drep;
import org.rdma4j.rdma.cm.message.Dreq;
import org.rdma4j.rdma.cm.message.Mra;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.Rep;
import org.rdma4j.rdma.cm.message.Req;
import org.rdma4j.rdma.cm.message.Rtu;
import org.rdma4j.rdma.cm.message.SidrRep;
import org.rdma4j.rdma.cm.message.SidrReq;

/** Writes messages (kernel: {@code cm_format_req} and the like). */
final class CmMessages {
  /** Which message a REJ or MRA is about. */
  static final int ABOUT_REQ = 0;

  static final int ABOUT_REP = 1;
  static final int ABOUT_OTHER = 2;

  private static final int TRANSPORT_UC = 1;
  private static final int TRANSPORT_XRC = 3;
  private static final int PERMISSIVE_LID = 0xffff;

  private CmMessages() {}

  private static MemorySegment mad(CmAttribute kind, long transactionId) {
    MemorySegment mad = MemorySegment.ofArray(new byte[MadHeader.MAD_BYTES]);
    MadHeader.BASE_VERSION.set(mad, MadHeader.BASE_VERSION_1);
    MadHeader.MANAGEMENT_CLASS.set(mad, MadHeader.CLASS_CM);
    MadHeader.CLASS_VERSION.set(mad, MadHeader.CLASS_VERSION_CM);
    MadHeader.METHOD.set(mad, MadHeader.METHOD_SEND);
    MadHeader.TRANSACTION_ID.set(mad, transactionId);
    MadHeader.ATTRIBUTE_ID.set(mad, kind.id());
    return mad;
  }

  static MemorySegment req(CmId id, ReqParameters asked) {
    CmPort port = id.port();
    MemorySegment mad = mad(CmAttribute.REQ, id.newTransaction());
    MadHeader.ATTRIBUTE_MODIFIER.setInt(mad, asked.attributeModifier());
    Req.LOCAL_COMM_ID.setInt(mad, id.localId());
    Req.VENDOR_ID.set(mad, asked.vendorId());
    Req.SERVICE_ID.set(mad, asked.serviceId());
    Req.LOCAL_CA_GUID.set(mad, port.nodeGuid());
    Req.LOCAL_QPN.set(mad, asked.qpn());
    Req.INITIATOR_DEPTH.set(mad, asked.initiatorDepth());
    Req.REMOTE_CM_RESPONSE_TIMEOUT.set(mad, asked.responseTimeout());
    Req.LOCAL_CM_RESPONSE_TIMEOUT.set(mad, asked.responseTimeout());
    Req.TRANSPORT_SERVICE_TYPE.set(mad, transport(asked.qpType()));
    Req.EXTENDED_TRANSPORT_TYPE.set(mad, asked.qpType() == QpType.XRC_INI ? 1 : 0);
    Req.END_TO_END_FLOW_CONTROL.setFlag(mad, asked.flowControl());
    Req.STARTING_PSN.set(mad, asked.startingPsn());
    Req.PARTITION_KEY.set(mad, asked.path().address().pkey());
    Req.PATH_PACKET_PAYLOAD_MTU.set(mad, asked.path().mtu().code());
    Req.MAX_CM_RETRIES.set(mad, asked.maxCmRetries());
    if (asked.qpType() != QpType.XRC_INI) {
      Req.RESPONDER_RESOURCES.set(mad, asked.responderResources());
      Req.RETRY_COUNT.set(mad, asked.retryCount());
      Req.RNR_RETRY_COUNT.set(mad, asked.rnrRetryCount());
      Req.SRQ.setFlag(mad, asked.srq());
    }
    path(mad, asked.path(), CmTimes.ackTimeout(port.ackDelay(), asked.path().lifeTime()));
    Req.PRIVATE_DATA.set(mad, asked.privateData());
    return mad;
  }

  private static void path(MemorySegment mad, CmPath path, int ackTimeout) {
    CmAddress address = path.address();
    Req.PRIMARY_LOCAL_PORT_GID.setGid(mad, address.local());
    Req.PRIMARY_REMOTE_PORT_GID.setGid(mad, address.remote());
    if (address.hopLimit() <= 1) {
      Req.PRIMARY_SUBNET_LOCAL.setFlag(mad, true);
    } else {
      Req.PRIMARY_LOCAL_PORT_LID.set(mad, PERMISSIVE_LID);
      Req.PRIMARY_REMOTE_PORT_LID.set(mad, PERMISSIVE_LID);
    }
    Req.PRIMARY_FLOW_LABEL.set(mad, address.flowLabel());
    Req.PRIMARY_PACKET_RATE.set(mad, path.rate());
    Req.PRIMARY_TRAFFIC_CLASS.set(mad, address.trafficClass());
    Req.PRIMARY_HOP_LIMIT.set(mad, address.hopLimit());
    Req.PRIMARY_SL.set(mad, address.serviceLevel());
    Req.PRIMARY_LOCAL_ACK_TIMEOUT.set(mad, ackTimeout);
  }

  private static int transport(QpType type) {
    return switch (type) {
      case UC -> TRANSPORT_UC;
      case XRC_INI -> TRANSPORT_XRC;
      default -> 0;
    };
  }

  /** The type of the queue pair that answers a REQ; null for one that there is no answer to. */
  static QpType qpType(MemorySegment req) {
    return switch (Req.TRANSPORT_SERVICE_TYPE.getInt(req)) {
      case 0 -> QpType.RC;
      case TRANSPORT_UC -> QpType.UC;
      case TRANSPORT_XRC -> Req.EXTENDED_TRANSPORT_TYPE.getInt(req) == 1 ? QpType.XRC_TGT : null;
      default -> null;
    };
  }

  static MemorySegment rep(CmId id, RepParameters said) {
    MemorySegment mad = mad(CmAttribute.REP, id.connection.transactionId);
    MadHeader.ATTRIBUTE_MODIFIER.setInt(mad, said.attributeModifier());
    Rep.LOCAL_COMM_ID.setInt(mad, id.localId());
    Rep.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    Rep.STARTING_PSN.set(mad, said.startingPsn());
    Rep.RESPONDER_RESOURCES.set(mad, said.responderResources());
    Rep.TARGET_ACK_DELAY.set(mad, id.port().ackDelay());
    Rep.FAILOVER_ACCEPTED.set(mad, said.failoverAccepted());
    Rep.RNR_RETRY_COUNT.set(mad, said.rnrRetryCount());
    Rep.LOCAL_CA_GUID.set(mad, id.port().nodeGuid());
    Rep.VENDOR_ID_H.set(mad, said.vendorId() >> 16 & 0xff);
    Rep.VENDOR_ID_M.set(mad, said.vendorId() >> 8 & 0xff);
    Rep.VENDOR_ID_L.set(mad, said.vendorId() & 0xff);
    if (id.connection.qpType == QpType.XRC_TGT) {
      Rep.LOCAL_EE_CONTEXT_NUMBER.set(mad, said.qpn());
      Rep.SRQ.setFlag(mad, true);
    } else {
      Rep.LOCAL_QPN.set(mad, said.qpn());
      Rep.INITIATOR_DEPTH.set(mad, said.initiatorDepth());
      Rep.END_TO_END_FLOW_CONTROL.setFlag(mad, said.flowControl());
      Rep.SRQ.setFlag(mad, said.srq());
    }
    Rep.PRIVATE_DATA.set(mad, said.privateData());
    return mad;
  }

  static MemorySegment rtu(CmId id) {
    MemorySegment mad = mad(CmAttribute.RTU, id.connection.transactionId);
    Rtu.LOCAL_COMM_ID.setInt(mad, id.localId());
    Rtu.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    Rtu.PRIVATE_DATA.set(mad, id.connection.privateData);
    return mad;
  }

  static MemorySegment mra(CmId id, int about) {
    MemorySegment mad = mad(CmAttribute.MRA, id.connection.transactionId);
    Mra.LOCAL_COMM_ID.setInt(mad, id.localId());
    Mra.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    Mra.MESSAGE_MRAED.set(mad, about);
    Mra.SERVICE_TIMEOUT.set(mad, id.connection.serviceTimeout);
    Mra.PRIVATE_DATA.set(mad, id.connection.privateData);
    return mad;
  }

  /** A REJ of an id, in the words of the state that it is in. */
  static MemorySegment rej(CmId id, int reason, byte[] ari, byte[] privateData) {
    MemorySegment mad = mad(CmAttribute.REJ, id.connection.transactionId);
    CmState state = id.state();
    Rej.LOCAL_COMM_ID.setInt(mad, state == CmState.REQ_RCVD ? 0 : id.localId());
    Rej.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    int about =
        switch (state) {
          case REQ_RCVD, MRA_REQ_SENT -> ABOUT_REQ;
          case REP_RCVD, MRA_REP_SENT -> ABOUT_REP;
          default -> ABOUT_OTHER;
        };
    refusal(mad, about, reason, ari);
    Rej.PRIVATE_DATA.set(mad, privateData);
    return mad;
  }

  /** A REJ of a message that no id answers. */
  static MemorySegment rej(MemorySegment answered, int about, RejectReason reason, byte[] ari) {
    MemorySegment mad = mad(CmAttribute.REJ, MadHeader.TRANSACTION_ID.get(answered));
    Rej.REMOTE_COMM_ID.setInt(mad, Rej.LOCAL_COMM_ID.getInt(answered));
    if (about != ABOUT_REQ) {
      Rej.LOCAL_COMM_ID.setInt(mad, Rej.REMOTE_COMM_ID.getInt(answered));
    }
    refusal(mad, about, reason.number(), ari);
    return mad;
  }

  private static void refusal(MemorySegment mad, int about, int reason, byte[] ari) {
    Rej.MESSAGE_REJECTED.set(mad, about);
    Rej.REASON.set(mad, reason);
    Rej.REJECTED_INFO_LENGTH.set(mad, ari.length);
    Rej.ARI.set(mad, ari);
  }

  static MemorySegment dreq(CmId id, byte[] privateData) {
    MemorySegment mad = mad(CmAttribute.DREQ, id.newTransaction());
    Dreq.LOCAL_COMM_ID.setInt(mad, id.localId());
    Dreq.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    Dreq.REMOTE_QPN_EECN.set(mad, id.connection.remoteQpn);
    Dreq.PRIVATE_DATA.set(mad, privateData);
    return mad;
  }

  static MemorySegment drep(CmId id) {
    MemorySegment mad = mad(CmAttribute.DREP, id.connection.transactionId);
    Drep.LOCAL_COMM_ID.setInt(mad, id.localId());
    Drep.REMOTE_COMM_ID.setInt(mad, id.connection.remoteId);
    Drep.PRIVATE_DATA.set(mad, id.connection.privateData);
    return mad;
  }

  /** A DREP for a connection that nobody here knows: it is over. */
  static MemorySegment drep(MemorySegment dreq) {
    MemorySegment mad = mad(CmAttribute.DREP, MadHeader.TRANSACTION_ID.get(dreq));
    Drep.REMOTE_COMM_ID.setInt(mad, Dreq.LOCAL_COMM_ID.getInt(dreq));
    Drep.LOCAL_COMM_ID.setInt(mad, Dreq.REMOTE_COMM_ID.getInt(dreq));
    return mad;
  }

  static MemorySegment sidrReq(CmId id, byte[] privateData) {
    MemorySegment mad = mad(CmAttribute.SIDR_REQ, id.newTransaction());
    SidrReq.REQUEST_ID.setInt(mad, id.localId());
    SidrReq.PARTITION_KEY.set(mad, id.connection.address.pkey());
    SidrReq.SERVICE_ID.set(mad, id.connection.serviceId);
    SidrReq.PRIVATE_DATA.set(mad, privateData);
    return mad;
  }

  static MemorySegment sidrRep(
      CmId id,
      SidrStatus status,
      int qpn,
      int qkey,
      int vendorId,
      int attributeModifier,
      byte[] information,
      byte[] privateData) {
    Connection connection = id.connection;
    MemorySegment mad =
        sidrRep(connection.remoteId, connection.serviceId, connection.transactionId, status);
    MadHeader.ATTRIBUTE_MODIFIER.setInt(mad, attributeModifier);
    SidrRep.VENDOR_ID_H.set(mad, vendorId >>> Byte.SIZE);
    SidrRep.VENDOR_ID_L.set(mad, vendorId & 0xff);
    SidrRep.QPN.set(mad, qpn);
    SidrRep.Q_KEY.setInt(mad, qkey);
    SidrRep.ADDITIONAL_INFORMATION_LENGTH.set(mad, information.length);
    SidrRep.ADDITIONAL_INFORMATION.set(mad, information);
    SidrRep.PRIVATE_DATA.set(mad, privateData);
    return mad;
  }

  static MemorySegment sidrRep(int requestId, long serviceId, long transactionId, SidrStatus status) {
    MemorySegment mad = mad(CmAttribute.SIDR_REP, transactionId);
    SidrRep.REQUEST_ID.setInt(mad, requestId);
    SidrRep.SERVICE_ID.set(mad, serviceId);
    SidrRep.STATUS.set(mad, status.ordinal());
    return mad;
  }
}
