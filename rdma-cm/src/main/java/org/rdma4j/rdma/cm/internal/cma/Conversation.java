package org.rdma4j.rdma.cm.internal.cma;

import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.DatagramParameters;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.rdma.cm.ib.CmEvent;
import org.rdma4j.rdma.cm.ib.CmHandler.Verdict;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.rdma.cm.ib.CmPath;
import org.rdma4j.rdma.cm.ib.CmTimes;
import org.rdma4j.rdma.cm.ib.RejectReason;
import org.rdma4j.rdma.cm.ib.RepParameters;
import org.rdma4j.rdma.cm.ib.ReqParameters;
import org.rdma4j.rdma.cm.ib.SidrStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an identifier says to its peer and hears from it (kernel: {@code cma_connect_ib}, {@code cma_accept_ib}, {@code
 * cma_ib_handler}). Guarded by the identifier's lock.
 *
 * <p>Times are made for RoCE. The kernel says 4 s for what a manager takes to answer and 1 s for what a packet takes,
 * from which follow 6 s between two tries of a request and 2 s between two tries of a packet. Here it is 1 s and 67 ms:
 * 1.2 s between two tries of a request, of which there are 16, and 134 ms and a little more between those of a packet.
 */
final class Conversation {
  /** Exponent of what a packet takes at most: 67 ms. */
  static final int PACKET_LIFE_TIME = 14;

  /** Q_Key of all datagram queue pairs that are made here (kernel: {@code RDMA_UDP_QKEY}). */
  static final int QKEY = 0x0123_4567;

  private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);
  private static final int RESPONSE_TIMEOUT = 18; // exponent: 1 s
  private static final int MOST_ACK_TIMEOUT = 16; // exponent: 268 ms, whatever a peer says of the network
  private static final int MAX_RETRIES = 15;
  private static final int MOST_RETRIES = 7;
  private static final int MOST_DEPTH = 255;
  private static final int MRA_TIMEOUT = 24; // exponent: 65 s
  private static final byte[] NOTHING = {};
  private static final int REQUEST_DATA = 56;
  private static final int REQUEST_DATA_DATAGRAM = 180;
  private static final int ACCEPT_DATA = 196;
  private static final int ACCEPT_DATA_DATAGRAM = 136;
  private static final int REJECT_DATA = 148;

  private final Id id;
  private CmId cm;
  private boolean passive;
  private boolean answered;
  private boolean established;
  private int askedResources = MOST_DEPTH; // what the peer asks this side to serve
  private int askedDepth = MOST_DEPTH; // what the peer is ready to serve
  private int foreignQp; // number of a queue pair that the owner made
  private Ece localEce = Ece.NONE;
  private Ece remoteEce = Ece.NONE;

  Conversation(Id id) {
    this.id = id;
  }

  boolean hasBegun() {
    return cm != null;
  }

  int qpNumber() {
    return foreignQp;
  }

  void localEce(Ece options) {
    localEce = options;
  }

  Ece remoteEce() {
    return remoteEce;
  }

  /** Whatever is said from now on concerns nobody here any more. */
  CmId end() {
    CmId last = cm;
    cm = null;
    return last;
  }

  void connect(ConnectionParameters said) {
    boolean datagram = id.qpType() == QpType.UD;
    check("connect", said, datagram ? REQUEST_DATA_DATAGRAM : REQUEST_DATA);
    QueuePair qp = id.qp();
    CmaHeader header = new CmaHeader(id.localAddress(), id.remoteAddress().getAddress());
    byte[] data = header.before(said.privateData());
    long service = id.portSpace().serviceId(id.remoteAddress().getPort());
    CmPath path = Routes.path(id.route());
    CmId asking = id.cma().connect(id, id.device(), id.port());
    boolean done = false;
    try {
      if (datagram) {
        asking.sendSidrReq(path, service, CmTimes.milliseconds(RESPONSE_TIMEOUT), MAX_RETRIES, data);
      } else {
        asking.sendReq(
            new ReqParameters(
                path,
                service,
                qp == null ? said.qpNumber() : qp.number(),
                id.qpType(),
                id.startingPsn,
                depth(said.responderResources(), DeviceLimit.MAX_QP_RD_ATOM, MOST_DEPTH),
                depth(said.initiatorDepth(), DeviceLimit.MAX_QP_INIT_RD_ATOM, MOST_DEPTH),
                RESPONSE_TIMEOUT,
                said.flowControl(),
                said.retryCount(),
                said.rnrRetryCount(),
                MAX_RETRIES,
                qp == null ? said.srq() : qp.srq() != null,
                localEce.vendorId(),
                localEce.options(),
                data));
      }
      done = true;
    } finally {
      if (!done) {
        id.cma().forget(asking);
        asking.destroy();
      }
    }
    cm = asking;
    foreignQp = said.qpNumber();
    id.state(RdmaCmState.CONNECT);
  }

  private static void check(String what, ConnectionParameters said, int mostData) {
    checkData(what, said.privateData(), mostData);
    checkRange(what, "responder resources", said.responderResources(), MOST_DEPTH);
    checkRange(what, "initiator depth", said.initiatorDepth(), MOST_DEPTH);
    checkRange(what, "retry count", said.retryCount(), MOST_RETRIES);
    checkRange(what, "RNR retry count", said.rnrRetryCount(), MOST_RETRIES);
  }

  private static void checkData(String what, byte[] data, int most) {
    if (data.length > most) {
      throw new VerbsException(
          Errno.EINVAL, "%s: %d bytes of private data, at most %d are allowed".formatted(what, data.length, most));
    }
  }

  private static void checkRange(String what, String name, int value, int most) {
    if (value < 0 || value > most) {
      throw new VerbsException(Errno.EINVAL, "%s: %s %d is not from 0 to %d".formatted(what, name, value, most));
    }
  }

  /** As many as was said; with {@link ConnectionParameters#MOST} what the device can and the peer asks for. */
  private int depth(int said, DeviceLimit limit, int asked) {
    long able = Math.min(id.device().device.attributes().limit(limit), MOST_DEPTH - 1);
    return said == ConnectionParameters.MOST ? (int) Math.min(able, asked) : said;
  }

  void beginPassive(CmId request, Ece ece) {
    cm = request;
    passive = true;
    remoteEce = ece;
    id.cma().adopt(request, id);
    if (id.qpType() != QpType.UD) {
      request.sendMra(CmId.MRA_DELAY | MRA_TIMEOUT, NOTHING);
    }
  }

  /** What the peer has asked for, which an acceptance that leaves it open is kept within. */
  void asked(int resources, int depth) {
    askedResources = resources;
    askedDepth = depth;
  }

  void accept(ConnectionParameters said) {
    boolean datagram = id.qpType() == QpType.UD;
    check("accept", said, datagram ? ACCEPT_DATA_DATAGRAM : ACCEPT_DATA);
    requireRequest("accept");
    QueuePair qp = id.qp();
    int number = qp == null ? said.qpNumber() : qp.number();
    if (datagram) {
      cm.sendSidrRep(
          SidrStatus.SUCCESS, number, QKEY, localEce.vendorId(), localEce.options(), NOTHING, said.privateData());
      answered = true;
      return;
    }
    int resources = depth(said.responderResources(), DeviceLimit.MAX_QP_RD_ATOM, askedResources);
    int depth = depth(said.initiatorDepth(), DeviceLimit.MAX_QP_INIT_RD_ATOM, askedDepth);
    boolean done = false;
    try {
      if (qp != null) {
        makeReady(qp, resources, depth);
      }
      cm.sendRep(
          new RepParameters(
              number,
              id.startingPsn,
              resources,
              depth,
              0,
              said.flowControl(),
              said.rnrRetryCount(),
              qp == null ? said.srq() : qp.srq() != null,
              localEce.vendorId(),
              localEce.options(),
              said.privateData()));
      done = true;
    } finally {
      if (!done) {
        giveUp();
      }
    }
    foreignQp = said.qpNumber();
    answered = true;
  }

  private void requireRequest(String what) {
    if (cm == null || !passive) {
      throw new VerbsException(Errno.EINVAL, "%s: %s has no request".formatted(what, id));
    }
    if (answered) {
      throw new VerbsException(Errno.EINVAL, "%s: the request of %s is answered already".formatted(what, id));
    }
  }

  /** This side cannot do its part: the queue pair fails and the peer is refused. */
  private void giveUp() {
    failQueuePair();
    answered = true;
    try {
      cm.sendRej(RejectReason.CONSUMER_DEFINED.number(), NOTHING, NOTHING);
    } catch (VerbsException e) {
      LOG.debug("{} could not refuse", id, e);
    }
  }

  private void failQueuePair() {
    if (id.pairs() != null) {
      id.pairs().fail();
    }
  }

  private void makeReady(QueuePair qp, int resources, int depth) {
    qp.modify(qpAttributes(QpState.INIT));
    QpAttributes toReceive = qpAttributes(QpState.RTR);
    if (toReceive.has(QpAttribute.MAX_DEST_RD_ATOMIC)) {
      toReceive.maxDestRdAtomic(resources);
    }
    qp.modify(toReceive);
    QpAttributes toSend = qpAttributes(QpState.RTS);
    if (toSend.has(QpAttribute.MAX_QP_RD_ATOMIC)) {
      toSend.maxRdAtomic(depth);
    }
    qp.modify(toSend);
  }

  QpAttributes qpAttributes(QpState target) {
    QpAttributes attributes = cm.qpAttributes(target);
    if (target == QpState.RTR) {
      attributes.rqPsn(id.startingPsn);
    }
    if (attributes.has(QpAttribute.TIMEOUT)) {
      if (id.ackTimeout() != 0) {
        attributes.timeout(id.ackTimeout());
      } else if (passive) {
        attributes.timeout(Math.min(attributes.timeout(), MOST_ACK_TIMEOUT));
      }
    }
    return attributes;
  }

  void reject(byte[] privateData) {
    if (id.qpType() == QpType.UD) {
      checkData("reject", privateData, ACCEPT_DATA_DATAGRAM);
      requireRequest("reject");
      cm.sendSidrRep(SidrStatus.REJECT, 0, 0, NOTHING, privateData);
      answered = true;
    } else {
      refuse(RejectReason.CONSUMER_DEFINED, privateData);
    }
  }

  void rejectEce(byte[] privateData) {
    if (id.qpType() == QpType.UD) {
      throw new VerbsException(Errno.EINVAL, "reject: datagrams have no enhanced connection options");
    }
    refuse(RejectReason.VENDOR_OPTION_NOT_SUPPORTED, privateData);
  }

  private void refuse(RejectReason reason, byte[] privateData) {
    checkData("reject", privateData, REJECT_DATA);
    if (cm == null) {
      throw new VerbsException(Errno.EINVAL, "reject: " + id + " has nothing to refuse");
    }
    cm.sendRej(reason.number(), NOTHING, privateData);
    failQueuePair();
    answered = true;
  }

  void establish() {
    if (cm == null || passive || id.qp() != null) {
      throw new VerbsException(
          Errno.EINVAL, "establish: only who has asked without a queue pair does, after the answer; not " + id);
    }
    cm.sendRtu(NOTHING);
    established = true;
  }

  void notifyEstablished() {
    if (cm == null) {
      throw new VerbsException(Errno.EINVAL, "notify: " + id + " has no peer");
    }
    cm.notifyEstablished();
  }

  void disconnect() {
    if (cm == null || id.qpType() == QpType.UD) {
      throw new VerbsException(Errno.EINVAL, "disconnect: " + id + " has no connection");
    }
    failQueuePair();
    try {
      cm.sendDreq(NOTHING);
    } catch (VerbsException notEstablished) {
      if (notEstablished.errno() != Errno.EINVAL) {
        throw notEstablished;
      }
      try {
        cm.sendDrep(NOTHING);
      } catch (VerbsException nothingToConfirm) {
        nothingToConfirm.addSuppressed(notEstablished);
        throw nothingToConfirm;
      }
    }
  }

  /** Something happened to the connection. */
  Verdict onEvent(CmId from, CmEvent event) {
    if (from != cm) {
      return Verdict.KEEP;
    }
    if (id.state() == RdmaCmState.DISCONNECT) {
      if (event instanceof CmEvent.TimewaitExit) {
        id.post(RdmaCmEventType.TIMEWAIT_EXIT, 0, id.between());
      }
      return Verdict.KEEP;
    }
    switch (event) {
      case CmEvent.ReqError lost -> unreachable("no answer to the request", lost);
      case CmEvent.RepError lost -> unreachable("the peer has not confirmed the acceptance", lost);
      case CmEvent.SidrReqError lost -> unreachable("no answer to the question for a queue pair", lost);
      case CmEvent.RepReceived answer -> {
        return accepted(answer);
      }
      case CmEvent.RtuReceived ready -> establishedBy(ready);
      case CmEvent.UserEstablished packet -> establishedBy(packet);
      case CmEvent.DreqReceived bye -> disconnected(0, bye);
      case CmEvent.DrepReceived bye -> disconnected(0, bye);
      case CmEvent.DreqError lost -> disconnected(-Errno.ETIMEDOUT.number(), lost);
      case CmEvent.RejReceived refusal -> rejected(refusal);
      case CmEvent.SidrRepReceived answer -> answered(answer);
      default -> LOG.trace("{}: {} says nothing to its owner", id, event);
    }
    return Verdict.KEEP;
  }

  private void unreachable(String what, CmEvent event) {
    LOG.trace("{}: {}", id, event);
    failQueuePair();
    long milliseconds =
        id.qpType() == QpType.UD
            ? CmTimes.milliseconds(RESPONSE_TIMEOUT)
            : 2 * CmTimes.milliseconds(id.route().packetLifeTime()) + CmTimes.milliseconds(RESPONSE_TIMEOUT);
    String tries = passive ? "" : ", sent %d times, every %d ms".formatted(MAX_RETRIES + 1, milliseconds);
    id.post(
        RdmaCmEventType.UNREACHABLE, -Errno.ETIMEDOUT.number(), "%s: %s%s".formatted(id.between(), what, tries));
  }

  private Verdict accepted(CmEvent.RepReceived answer) {
    remoteEce = new Ece(answer.vendorId(), answer.attributeModifier());
    var said =
        new ConnectionParameters(
            answer.privateData(),
            answer.responderResources(),
            answer.initiatorDepth(),
            answer.flowControl(),
            0,
            answer.rnrRetryCount(),
            answer.srq(),
            answer.remoteQpn());
    QueuePair qp = id.qp();
    if (qp == null) {
      cm.sendMra(CmId.MRA_DELAY | MRA_TIMEOUT, NOTHING);
      post(RdmaCmEventType.CONNECT_RESPONSE, said);
      return Verdict.KEEP;
    }
    try {
      makeReady(qp, answer.responderResources(), answer.initiatorDepth());
      cm.sendRtu(NOTHING);
      established = true;
      post(RdmaCmEventType.ESTABLISHED, said);
      return Verdict.KEEP;
    } catch (VerbsException e) {
      giveUp();
      id.post(
          RdmaCmEventType.CONNECT_ERROR,
          -e.errno().number(),
          "%s: the peer agrees, but queue pair %d cannot be made ready: %s"
              .formatted(id.between(), qp.number(), e.getMessage()));
      id.cma().forget(end());
      return Verdict.DESTROY;
    }
  }

  private void post(RdmaCmEventType type, ConnectionParameters said) {
    id.post(new RdmaCmEvent(type, 0, id, null, said, null, remoteEce, id.between()));
  }

  private void establishedBy(CmEvent event) {
    LOG.trace("{}: {}", id, event);
    if (!established) {
      established = true;
      id.post(RdmaCmEventType.ESTABLISHED, 0, id.between());
    }
  }

  private void disconnected(int status, CmEvent event) {
    LOG.trace("{}: {}", id, event);
    id.state(RdmaCmState.DISCONNECT);
    id.post(
        RdmaCmEventType.DISCONNECTED,
        status,
        status == 0 ? id.between() : id.between() + ": the peer has not confirmed the end");
  }

  private void rejected(CmEvent.RejReceived refusal) {
    failQueuePair();
    var said = new ConnectionParameters(refusal.privateData(), 0, 0, false, 0, 0, false, 0);
    id.post(
        new RdmaCmEvent(
            RdmaCmEventType.REJECTED,
            refusal.reason(),
            id,
            null,
            said,
            null,
            Ece.NONE,
            "%s: the peer refuses: %s".formatted(id.between(), RejectReason.text(refusal.reason()))));
  }

  private void answered(CmEvent.SidrRepReceived answer) {
    RdmaCmEventType type =
        answer.status() == SidrStatus.SUCCESS.ordinal() ? RdmaCmEventType.ESTABLISHED : RdmaCmEventType.UNREACHABLE;
    AhAttributes way = null;
    if (type == RdmaCmEventType.ESTABLISHED) {
      way =
          new AhAttributes(id.port(), id.route().destination(), id.gid().index())
              .withFlowLabel(id.route().flowLabel())
              .withTrafficClass(id.route().trafficClass())
              .withHopLimit(id.route().hopLimit());
    }
    remoteEce = new Ece(answer.vendorId(), answer.attributeModifier());
    var datagram = new DatagramParameters(answer.privateData(), way, answer.qpn(), answer.qkey());
    String detail = id.between() + (answer.status() == 0 ? "" : ": " + SidrStatus.text(answer.status()));
    id.post(new RdmaCmEvent(type, answer.status(), id, null, null, datagram, remoteEce, detail));
  }
}
