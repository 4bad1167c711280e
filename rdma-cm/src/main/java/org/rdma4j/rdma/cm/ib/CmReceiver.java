package org.rdma4j.rdma.cm.ib;

import static org.rdma4j.rdma.cm.ib.CmState.DREQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.IDLE;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_SENT;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Drep;
import org.rdma4j.rdma.cm.message.Dreq;
import org.rdma4j.rdma.cm.message.Mra;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.Rep;
import org.rdma4j.rdma.cm.message.Rtu;
import org.rdma4j.rdma.cm.message.SidrRep;

/** What a message does to the id that it is for (kernel: {@code cm_work_handler}); on the manager's thread. */
final class CmReceiver {
  private final IbCm manager;
  private final RequestReceiver requests;

  CmReceiver(IbCm manager) {
    this.manager = manager;
    this.requests = new RequestReceiver(manager);
  }

  /** An event and whose it is. */
  record Happened(CmId id, CmEvent event) {}

  void receive(CmPort port, ReceivedCm message) {
    Optional<CmAttribute> kind = CmAttribute.of(MadHeader.ATTRIBUTE_ID.getInt(message.mad()));
    if (kind.isEmpty()) {
      return;
    }
    port.counters().countReceived(kind.get());
    Happened happened;
    synchronized (manager.lock) {
      try {
        happened = handle(port, kind.get(), message);
      } catch (VerbsException e) {
        manager.log("no answer to {}", kind.get(), e);
        return;
      }
    }
    if (happened != null) {
      manager.deliver(happened.id(), happened.event());
    }
  }

  private Happened handle(CmPort port, CmAttribute kind, ReceivedCm message) {
    MemorySegment mad = message.mad();
    return switch (kind) {
      case REQ -> requests.req(port, message);
      case SIDR_REQ -> requests.sidrReq(port, message);
      case MRA -> mra(mad);
      case REJ -> rej(mad);
      case REP -> rep(port, message);
      case RTU -> rtu(mad);
      case DREQ -> dreq(port, message);
      case DREP -> drep(mad);
      case SIDR_REP -> sidrRep(mad);
      case LAP, APR -> null; // There are no alternate paths on RoCE (kernel: cm_lap_handler, cm_apr_handler).
    };
  }

  private Happened mra(MemorySegment mad) {
    int about = Mra.MESSAGE_MRAED.getInt(mad);
    int localId = Mra.REMOTE_COMM_ID.getInt(mad);
    CmId id =
        about == CmMessages.ABOUT_REQ
            ? manager.tables.local(localId)
            : manager.tables.pair(localId, Mra.LOCAL_COMM_ID.getInt(mad));
    if (id == null) {
      return null;
    }
    int serviceTimeout = Mra.SERVICE_TIMEOUT.getInt(mad);
    if (id.state() == REQ_SENT && about == CmMessages.ABOUT_REQ) {
      id.state(MRA_REQ_RCVD);
    } else if (id.state() == REP_SENT && about == CmMessages.ABOUT_REP) {
      id.state(MRA_REP_RCVD);
    } else {
      if (id.state().in(MRA_REQ_RCVD, MRA_REP_RCVD)) {
        id.port().counters().countDuplicate(CmAttribute.MRA);
      }
      return null;
    }
    id.connection.serviceTimeout = serviceTimeout;
    id.extend(CmTimes.milliseconds(serviceTimeout) + CmTimes.milliseconds(id.connection.ackTimeout));
    return new Happened(id, new CmEvent.MraReceived(serviceTimeout, Mra.PRIVATE_DATA.get(mad)));
  }

  private Happened rej(MemorySegment mad) {
    CmId id = rejected(mad);
    if (id == null) {
      return null;
    }
    switch (id.state()) {
      case REQ_SENT, MRA_REQ_RCVD, REP_SENT, MRA_REP_RCVD, REQ_RCVD, MRA_REQ_SENT -> {
        id.cancel();
        if (Rej.REASON.getInt(mad) == RejectReason.STALE_CONN.number()) {
          id.enterTimewait();
        } else {
          id.reset();
        }
      }
      case DREQ_SENT, REP_RCVD, MRA_REP_SENT, ESTABLISHED -> {
        id.cancel();
        id.enterTimewait();
      }
      default -> {
        return null;
      }
    }
    byte[] ari = prefix(Rej.ARI, mad, Rej.REJECTED_INFO_LENGTH.getInt(mad));
    return new Happened(id, new CmEvent.RejReceived(Rej.REASON.getInt(mad), ari, Rej.PRIVATE_DATA.get(mad)));
  }

  /** Whom a REJ is for: the peer may have known no number of ours, or no number of its own. */
  private CmId rejected(MemorySegment mad) {
    int theirs = Rej.LOCAL_COMM_ID.getInt(mad);
    int ours = Rej.REMOTE_COMM_ID.getInt(mad);
    if (Rej.REASON.getInt(mad) == RejectReason.TIMEOUT.number()) {
      return manager.tables.remoteId(theirs, ByteBuffer.wrap(Rej.ARI.get(mad)).getLong());
    }
    return Rej.MESSAGE_REJECTED.getInt(mad) == CmMessages.ABOUT_REQ
        ? manager.tables.local(ours)
        : manager.tables.pair(ours, theirs);
  }

  private Happened rep(CmPort port, ReceivedCm message) {
    MemorySegment mad = message.mad();
    CmId id = manager.tables.local(Rep.REMOTE_COMM_ID.getInt(mad));
    if (id == null) {
      return null;
    }
    if (!id.state().in(REQ_SENT, MRA_REQ_RCVD)) {
      repeated(id, mad);
      return null;
    }
    Connection connection = id.connection;
    boolean xrc = connection.qpType == QpType.XRC_INI;
    connection.remoteId = Rep.LOCAL_COMM_ID.getInt(mad);
    connection.remoteCaGuid = Rep.LOCAL_CA_GUID.get(mad);
    connection.remoteQpn = (xrc ? Rep.LOCAL_EE_CONTEXT_NUMBER : Rep.LOCAL_QPN).getInt(mad);
    if (manager.tables.addRemoteId(id) != null) {
      connection.remoteId = 0; // This is of another connection.
      return null;
    }
    CmId stale = manager.tables.addRemoteQp(id);
    if (stale != null) {
      manager.tables.removeRemote(id);
      connection.remoteId = 0;
      MemorySegment refusal = CmMessages.rej(mad, CmMessages.ABOUT_REP, RejectReason.STALE_CONN, new byte[0]);
      requests.refuse(port, message.from(), refusal);
      requests.endStale(stale);
      return null;
    }
    connection.initiatorDepth = Rep.RESPONDER_RESOURCES.getInt(mad);
    connection.responderResources = Rep.INITIATOR_DEPTH.getInt(mad);
    connection.sqPsn = Rep.STARTING_PSN.getInt(mad);
    connection.rnrRetryCount = Rep.RNR_RETRY_COUNT.getInt(mad);
    connection.ackTimeout = CmTimes.ackTimeout(Rep.TARGET_ACK_DELAY.getInt(mad), connection.ackTimeout - 1);
    id.cancel();
    id.state(REP_RCVD);
    return new Happened(id, repReceived(connection, mad));
  }

  private static CmEvent repReceived(Connection connection, MemorySegment mad) {
    int vendor =
        Rep.VENDOR_ID_H.getInt(mad) << 16 | Rep.VENDOR_ID_M.getInt(mad) << 8 | Rep.VENDOR_ID_L.getInt(mad);
    return new CmEvent.RepReceived(
        connection.remoteCaGuid,
        connection.remoteQpn,
        connection.sqPsn,
        connection.responderResources,
        connection.initiatorDepth,
        Rep.FAILOVER_ACCEPTED.getInt(mad),
        connection.rnrRetryCount,
        Rep.END_TO_END_FLOW_CONTROL.isSet(mad),
        Rep.SRQ.isSet(mad),
        vendor,
        MadHeader.ATTRIBUTE_MODIFIER.getInt(mad),
        Rep.PRIVATE_DATA.get(mad));
  }

  /** A REP that came before: the peer has not got what answered it. */
  private void repeated(CmId id, MemorySegment mad) {
    if (id.connection.remoteId != Rep.LOCAL_COMM_ID.getInt(mad)) {
      return;
    }
    id.port().counters().countDuplicate(CmAttribute.REP);
    if (id.state() == ESTABLISHED) {
      id.tellAgain(CmAttribute.RTU, CmMessages.rtu(id));
    } else if (id.state() == MRA_REP_SENT) {
      id.tellAgain(CmAttribute.MRA, CmMessages.mra(id, CmMessages.ABOUT_REP));
    }
  }

  private Happened rtu(MemorySegment mad) {
    CmId id = manager.tables.pair(Rtu.REMOTE_COMM_ID.getInt(mad), Rtu.LOCAL_COMM_ID.getInt(mad));
    if (id == null) {
      return null;
    }
    if (!id.state().in(REP_SENT, MRA_REP_RCVD)) {
      id.port().counters().countDuplicate(CmAttribute.RTU);
      return null;
    }
    id.cancel();
    id.state(ESTABLISHED);
    return new Happened(id, new CmEvent.RtuReceived(Rtu.PRIVATE_DATA.get(mad)));
  }

  private Happened dreq(CmPort port, ReceivedCm message) {
    MemorySegment mad = message.mad();
    CmId id = manager.tables.pair(Dreq.REMOTE_COMM_ID.getInt(mad), Dreq.LOCAL_COMM_ID.getInt(mad));
    if (id == null) {
      port.counters().countDuplicate(CmAttribute.DREQ);
      port.counters().countSent(CmAttribute.DREP);
      port.send(CmMessages.drep(mad), message.from());
      return null;
    }
    if (id.connection.localQpn != Dreq.REMOTE_QPN_EECN.getInt(mad)) {
      return null;
    }
    switch (id.state()) {
      case REP_SENT, DREQ_SENT, MRA_REP_RCVD, ESTABLISHED -> {
        id.cancel();
        id.state(DREQ_RCVD);
        id.connection.transactionId = MadHeader.TRANSACTION_ID.get(mad);
        return new Happened(id, new CmEvent.DreqReceived(Dreq.PRIVATE_DATA.get(mad)));
      }
      case TIMEWAIT -> {
        id.port().counters().countDuplicate(CmAttribute.DREQ);
        id.connection.transactionId = MadHeader.TRANSACTION_ID.get(mad);
        id.tellAgain(CmAttribute.DREP, CmMessages.drep(id));
      }
      case DREQ_RCVD -> id.port().counters().countDuplicate(CmAttribute.DREQ);
      default -> {
        // A connection that is not there yet is not ended.
      }
    }
    return null;
  }

  private Happened drep(MemorySegment mad) {
    CmId id = manager.tables.pair(Drep.REMOTE_COMM_ID.getInt(mad), Drep.LOCAL_COMM_ID.getInt(mad));
    if (id == null || !id.state().in(DREQ_SENT, DREQ_RCVD)) {
      return null;
    }
    id.cancel();
    id.enterTimewait();
    return new Happened(id, new CmEvent.DrepReceived(Drep.PRIVATE_DATA.get(mad)));
  }

  private Happened sidrRep(MemorySegment mad) {
    CmId id = manager.tables.local(SidrRep.REQUEST_ID.getInt(mad));
    if (id == null || id.state() != SIDR_REQ_SENT) {
      return null;
    }
    id.cancel();
    id.state(IDLE);
    byte[] information =
        prefix(SidrRep.ADDITIONAL_INFORMATION, mad, SidrRep.ADDITIONAL_INFORMATION_LENGTH.getInt(mad));
    return new Happened(
        id,
        new CmEvent.SidrRepReceived(
            SidrRep.STATUS.getInt(mad),
            SidrRep.QPN.getInt(mad),
            SidrRep.Q_KEY.getInt(mad),
            SidrRep.VENDOR_ID_H.getInt(mad) << Byte.SIZE | SidrRep.VENDOR_ID_L.getInt(mad),
            MadHeader.ATTRIBUTE_MODIFIER.getInt(mad),
            information,
            SidrRep.PRIVATE_DATA.get(mad)));
  }

  /** As much of an area as the peer says that there is. */
  private static byte[] prefix(MadBytes area, MemorySegment mad, int length) {
    return Arrays.copyOf(area.get(mad), Math.min(length, area.length()));
  }
}
