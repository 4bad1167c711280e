package org.rdma4j.rdma.cm.ib;

import static org.rdma4j.rdma.cm.ib.CmState.DREQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.DREQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.ESTABLISHED;
import static org.rdma4j.rdma.cm.ib.CmState.IDLE;
import static org.rdma4j.rdma.cm.ib.CmState.LISTEN;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.MRA_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REP_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REP_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_RCVD;
import static org.rdma4j.rdma.cm.ib.CmState.SIDR_REQ_SENT;
import static org.rdma4j.rdma.cm.ib.CmState.TIMEWAIT;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;

/**
 * A connection, or a listener, or a question for a service (kernel: {@code struct ib_cm_id}, cm.c). Calls may come from
 * any thread. A call in a state that does not allow it is refused with {@code EINVAL} and names the state and those
 * that do.
 */
public final class CmId {
  /** In the service timeout of an MRA: sent only when the peer asks again (kernel: {@code IB_CM_MRA_FLAG_DELAY}). */
  public static final int MRA_DELAY = 0x80;

  /** Instead of a service id: one that nobody has (kernel: {@code IB_CM_ASSIGN_SERVICE_ID}). */
  public static final long ASSIGN_SERVICE_ID = CmChecks.ASSIGN_SERVICE_ID;

  private static final int EXPONENT = 0x1f;
  private static final byte[] NOTHING = {};

  final Connection connection = new Connection();
  private final IbCm manager;
  private final CmPort port;
  private final CmHandler handler;
  private CmState state;
  private CmPort.Outstanding outstanding;
  private int tries;
  private int localId;
  private boolean destroyed;
  private boolean delivering;

  CmId(IbCm manager, CmPort port, CmHandler handler, CmState state) {
    this.manager = manager;
    this.port = port;
    this.handler = handler;
    this.state = state;
  }

  /** {@return the number by which the peer knows it} */
  public int localId() {
    return localId;
  }

  /** {@return the state that it is in} */
  public CmState state() {
    synchronized (manager.lock) {
      return state;
    }
  }

  /** {@return the port whose messages it sends} */
  public CmPort port() {
    return port;
  }

  void localId(int number) {
    localId = number;
  }

  CmHandler handler() {
    return handler;
  }

  void state(CmState next) {
    state = next;
  }

  /** Makes and remembers the transaction id of a message that is a question. */
  long newTransaction() {
    connection.transactionId = (long) port.highTransactionId() << Integer.SIZE | Integer.toUnsignedLong(localId);
    return connection.transactionId;
  }

  /**
   * Begins to listen.
   *
   * @param serviceId whom peers ask for, or {@link #ASSIGN_SERVICE_ID}
   * @throws VerbsException EBUSY when somebody listens there on this device, EINVAL for a service id that is only
   *     assigned, or in another state than IDLE
   */
  public void listen(long serviceId) {
    CmChecks.serviceId(serviceId);
    synchronized (manager.lock) {
      require("listen", IDLE);
      long wanted = serviceId == ASSIGN_SERVICE_ID ? manager.tables.assignServiceId() : serviceId;
      if (!manager.tables.listen(this, port.device(), wanted)) {
        throw new VerbsException(
            Errno.EBUSY, "listen on service %#018x: somebody does on this device".formatted(wanted));
      }
      connection.serviceId = wanted;
      state = LISTEN;
    }
  }

  /** {@return the service that it listens on or is for} */
  public long serviceId() {
    synchronized (manager.lock) {
      return connection.serviceId;
    }
  }

  /**
   * Asks for a connection; REP_RECEIVED, REJ_RECEIVED or REQ_ERROR follows.
   *
   * @throws VerbsException EINVAL for a bad parameter or state, or what the port says
   */
  public void sendReq(ReqParameters asked) {
    CmChecks.type(asked.qpType());
    CmChecks.privateData(CmAttribute.REQ, asked.privateData());
    synchronized (manager.lock) {
      require("REQ", IDLE);
      CmPath path = asked.path();
      MemorySegment message = CmChecks.built(CmAttribute.REQ, () -> CmMessages.req(this, asked));
      connection.path = path;
      connection.address = path.address();
      connection.ackTimeout = path.lifeTime() + 1;
      connection.serviceId = asked.serviceId();
      connection.qpType = asked.qpType();
      connection.initiatorDepth = asked.initiatorDepth();
      connection.responderResources = asked.responderResources();
      connection.retryCount = asked.retryCount();
      connection.localQpn = asked.qpn();
      connection.rqPsn = asked.startingPsn();
      connection.timeout =
          2 * CmTimes.milliseconds(path.lifeTime()) + CmTimes.milliseconds(asked.responseTimeout());
      connection.maxRetries = asked.maxCmRetries();
      ask(CmAttribute.REQ, message);
      state = REQ_SENT;
    }
  }

  /**
   * Agrees to a connection; RTU_RECEIVED, USER_ESTABLISHED, REJ_RECEIVED or REP_ERROR follows.
   *
   * @throws VerbsException EINVAL for a bad parameter or state, or what the port says
   */
  public void sendRep(RepParameters said) {
    CmChecks.privateData(CmAttribute.REP, said.privateData());
    synchronized (manager.lock) {
      require("REP", REQ_RCVD, MRA_REQ_SENT);
      ask(CmAttribute.REP, CmChecks.built(CmAttribute.REP, () -> CmMessages.rep(this, said)));
      connection.initiatorDepth = said.initiatorDepth();
      connection.responderResources = said.responderResources();
      connection.rqPsn = said.startingPsn();
      connection.localQpn = said.qpn();
      state = REP_SENT;
    }
  }

  /**
   * Says that this side is ready: the connection is there.
   *
   * @throws VerbsException EINVAL for too long data or in another state than REP_RCVD and MRA_REP_SENT
   */
  public void sendRtu(byte[] privateData) {
    CmChecks.privateData(CmAttribute.RTU, privateData);
    synchronized (manager.lock) {
      require("RTU", REP_RCVD, MRA_REP_SENT);
      connection.privateData = privateData.clone();
      tell(CmAttribute.RTU, CmMessages.rtu(this));
      state = ESTABLISHED;
    }
  }

  /**
   * Ends the connection; DREP_RECEIVED or DREQ_ERROR follows, then TIMEWAIT_EXIT.
   *
   * @throws VerbsException EINVAL for too long data or in another state than ESTABLISHED, or what the port says: then
   *     the connection is in TIMEWAIT
   */
  public void sendDreq(byte[] privateData) {
    CmChecks.privateData(CmAttribute.DREQ, privateData);
    synchronized (manager.lock) {
      require("DREQ", ESTABLISHED);
      end(privateData);
    }
  }

  /** Sends a DREQ; where that fails the connection is over at once. */
  void end(byte[] privateData) {
    try {
      ask(CmAttribute.DREQ, CmMessages.dreq(this, privateData));
      state = DREQ_SENT;
    } catch (VerbsException e) {
      enterTimewait();
      throw e;
    }
  }

  /**
   * Confirms the end.
   *
   * @throws VerbsException EINVAL for too long data or in another state than DREQ_RCVD, or what the port says; the
   *     connection is in TIMEWAIT all the same
   */
  public void sendDrep(byte[] privateData) {
    CmChecks.privateData(CmAttribute.DREP, privateData);
    synchronized (manager.lock) {
      require("DREP", DREQ_RCVD);
      connection.privateData = privateData.clone();
      enterTimewait();
      tell(CmAttribute.DREP, CmMessages.drep(this));
    }
  }

  /**
   * Refuses what the peer wants, or gives up what was asked for.
   *
   * @param reason number of the reason, see {@link RejectReason}
   * @param ari additional information, at most 72 bytes
   * @throws VerbsException EINVAL for too long data or in a state without anything to refuse
   */
  public void sendRej(int reason, byte[] ari, byte[] privateData) {
    CmChecks.privateData(CmAttribute.REJ, privateData);
    CmChecks.ari(ari);
    synchronized (manager.lock) {
      require(
          "REJ", REQ_SENT, MRA_REQ_RCVD, REQ_RCVD, MRA_REQ_SENT, REP_RCVD, MRA_REP_SENT, REP_SENT, MRA_REP_RCVD);
      reject(reason, ari, privateData);
    }
  }

  private void reject(int reason, byte[] ari, byte[] privateData) {
    MemorySegment message = CmMessages.rej(this, reason, ari, privateData);
    cancel();
    if (state.in(REP_SENT, MRA_REP_RCVD)) {
      enterTimewait();
    } else {
      reset();
    }
    tell(CmAttribute.REJ, message);
  }

  /**
   * Says that the answer takes longer.
   *
   * @param serviceTimeout exponent of how long, and {@link #MRA_DELAY} to say so only when the peer asks again
   * @throws VerbsException EINVAL for too long data or in another state than REQ_RCVD and REP_RCVD
   */
  public void sendMra(int serviceTimeout, byte[] privateData) {
    CmChecks.privateData(CmAttribute.MRA, privateData);
    synchronized (manager.lock) {
      require("MRA", REQ_RCVD, REP_RCVD);
      boolean aboutReq = state == REQ_RCVD;
      connection.serviceTimeout = serviceTimeout & EXPONENT;
      connection.privateData = privateData.clone();
      if ((serviceTimeout & MRA_DELAY) == 0) {
        tell(CmAttribute.MRA, CmMessages.mra(this, aboutReq ? CmMessages.ABOUT_REQ : CmMessages.ABOUT_REP));
      }
      state = aboutReq ? MRA_REQ_SENT : MRA_REP_SENT;
    }
  }

  /**
   * The queue pair got a packet of the peer, who is ready then (kernel: {@code ib_cm_notify}).
   *
   * @throws VerbsException EISCONN when that is known already, EINVAL in a state without a peer
   */
  public void notifyEstablished() {
    synchronized (manager.lock) {
      if (state == ESTABLISHED) {
        throw new VerbsException(Errno.EISCONN, "the connection is established already");
      }
      require("notify of the peer's first packet", REP_SENT, MRA_REP_RCVD);
      cancel();
      state = ESTABLISHED;
      manager.deliverLater(this, new CmEvent.UserEstablished());
    }
  }

  /**
   * What a queue pair is to be told next so that it fits the connection (kernel: {@code ib_cm_init_qp_attr}).
   *
   * @param target INIT, RTR or RTS
   * @return attributes that the caller may change, such as the P_Key index of a queue pair on another partition
   * @throws VerbsException EINVAL for another target, or in a state in which that is not known; or what the port says
   */
  public QpAttributes qpAttributes(QpState target) {
    synchronized (manager.lock) {
      require("attributes for " + target, QpTransition.allowed(target));
      return QpTransition.of(connection, port, target);
    }
  }

  /**
   * Asks for the queue pair of a service; SIDR_REP_RECEIVED or SIDR_REQ_ERROR follows.
   *
   * @param milliseconds between tries
   * @param retries after the first
   * @throws VerbsException EINVAL for too long data or in another state than IDLE, or what the port says
   */
  public void sendSidrReq(CmPath path, long serviceId, long milliseconds, int retries, byte[] privateData) {
    CmChecks.privateData(CmAttribute.SIDR_REQ, privateData);
    synchronized (manager.lock) {
      require("SIDR_REQ", IDLE);
      connection.path = path;
      connection.address = path.address();
      connection.serviceId = serviceId;
      connection.timeout = milliseconds;
      connection.maxRetries = retries;
      ask(CmAttribute.SIDR_REQ, CmMessages.sidrReq(this, privateData));
      state = SIDR_REQ_SENT;
    }
  }

  /**
   * Answers a question for a service.
   *
   * @param information at most 72 bytes
   * @throws VerbsException EINVAL for too long data or in another state than SIDR_REQ_RCVD
   */
  public void sendSidrRep(SidrStatus status, int qpn, int qkey, byte[] information, byte[] privateData) {
    sendSidrRep(status, qpn, qkey, 0, 0, information, privateData);
  }

  /**
   * Answers a question for a service, with enhanced connection options.
   *
   * @param vendorId of the options, 24 bits
   * @param attributeModifier the options
   * @param information at most 72 bytes
   * @throws VerbsException EINVAL for too long data or in another state than SIDR_REQ_RCVD
   */
  public void sendSidrRep(
      SidrStatus status,
      int qpn,
      int qkey,
      int vendorId,
      int attributeModifier,
      byte[] information,
      byte[] privateData) {
    CmChecks.privateData(CmAttribute.SIDR_REP, privateData);
    CmChecks.information(information);
    synchronized (manager.lock) {
      require("SIDR_REP", SIDR_REQ_RCVD);
      MemorySegment message =
          CmChecks.built(
              CmAttribute.SIDR_REP,
              () -> CmMessages.sidrRep(this, status, qpn, qkey, vendorId, attributeModifier, information, privateData));
      manager.tables.removeQuestion(this, connection.remoteId, connection.address.remote());
      state = IDLE;
      tell(CmAttribute.SIDR_REP, message);
    }
  }

  /**
   * Gives the id up, with the message that its state asks for. When the call returns no event of it comes any more and
   * none is on its way, unless it comes from the id's own handler. May be called again.
   */
  public void destroy() {
    boolean interrupted = false;
    synchronized (manager.lock) {
      destroy(false);
      while (delivering && !manager.isCurrent()) {
        try {
          manager.lock.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Gives it up; with {@code silent} a request is left without an answer. */
  void destroy(boolean silent) {
    if (destroyed) {
      return;
    }
    try {
      sayGoodbye(silent);
    } catch (VerbsException e) {
      manager.log("the last message of {} could not be sent", this, e);
    }
    destroyed = true;
    cancel();
    state = state.in(TIMEWAIT, DREQ_SENT) ? TIMEWAIT : IDLE;
    manager.tables.remove(this);
  }

  private void sayGoodbye(boolean silent) {
    switch (state) {
      case LISTEN -> manager.tables.unlisten(this, port.device(), connection.serviceId);
      case SIDR_REQ_RCVD -> sendSidrRep(SidrStatus.REJECT, 0, 0, NOTHING, NOTHING);
      case REQ_SENT, MRA_REQ_RCVD -> {
        byte[] guid = ByteBuffer.allocate(Long.BYTES).putLong(port.nodeGuid()).array();
        reject(RejectReason.TIMEOUT.number(), guid, NOTHING);
      }
      case REQ_RCVD -> {
        if (!silent) {
          reject(RejectReason.CONSUMER_DEFINED.number(), NOTHING, NOTHING);
        }
      }
      case MRA_REQ_SENT, REP_RCVD, MRA_REP_SENT, REP_SENT, MRA_REP_RCVD ->
          reject(RejectReason.CONSUMER_DEFINED.number(), NOTHING, NOTHING);
      case ESTABLISHED -> {
        if (connection.qpType != QpType.XRC_TGT) {
          end(NOTHING);
        }
      }
      case DREQ_RCVD -> sendDrep(NOTHING);
      default -> {
        // Nothing that a peer waits for.
      }
    }
  }

  boolean isDestroyed() {
    return destroyed;
  }

  void delivering(boolean now) {
    delivering = now;
  }

  /** Sends what needs no answer. */
  void tell(CmAttribute kind, MemorySegment message) {
    port.counters().countSent(kind);
    port.send(message, connection.address);
  }

  /** Sends once more what needs no answer. */
  void tellAgain(CmAttribute kind, MemorySegment message) {
    port.counters().countRetries(kind, 1);
    port.send(message, connection.address);
  }

  /** Sends what needs an answer, until there is one. */
  void ask(CmAttribute kind, MemorySegment message) {
    int mine = ++tries;
    outstanding =
        port.send(
            message, connection.address, connection.timeout, connection.maxRetries, () -> exhausted(kind, mine));
    port.counters().countSent(kind);
  }

  /** There was no answer. */
  private void exhausted(CmAttribute kind, int attempt) {
    CmEvent event;
    synchronized (manager.lock) {
      if (attempt != tries || outstanding == null) {
        return;
      }
      outstanding = null;
      event =
          switch (state) {
            case REQ_SENT, MRA_REQ_RCVD -> failed(kind, CmAttribute.REQ, new CmEvent.ReqError());
            case REP_SENT, MRA_REP_RCVD -> failed(kind, CmAttribute.REP, new CmEvent.RepError());
            case SIDR_REQ_SENT -> failed(kind, CmAttribute.SIDR_REQ, new CmEvent.SidrReqError());
            case DREQ_SENT -> {
              enterTimewait();
              yield new CmEvent.DreqError();
            }
            default -> null;
          };
    }
    if (event != null) {
      manager.deliver(this, event);
    }
  }

  private CmEvent failed(CmAttribute kind, CmAttribute expected, CmEvent event) {
    if (kind != expected) {
      return null;
    }
    reset();
    return event;
  }

  /** No answer is waited for any more. */
  void cancel() {
    if (outstanding != null) {
      outstanding.cancel();
      outstanding = null;
    }
  }

  /** The peer takes longer. */
  void extend(long milliseconds) {
    if (outstanding != null) {
      outstanding.extend(milliseconds);
    }
  }

  /** As if nothing had been. */
  void reset() {
    manager.tables.removeRemote(this);
    state = IDLE;
  }

  /** Late packets may come for a while; the peer's number is free. */
  void enterTimewait() {
    manager.tables.removeRemote(this);
    state = TIMEWAIT;
    int qpn = connection.remoteQpn;
    manager.schedule(() -> leaveTimewait(qpn), CmTimes.milliseconds(connection.ackTimeout));
  }

  private void leaveTimewait(int qpn) {
    synchronized (manager.lock) {
      if (destroyed || state != TIMEWAIT || connection.remoteQpn != qpn) {
        return;
      }
      state = IDLE;
    }
    manager.deliver(this, new CmEvent.TimewaitExit());
  }

  private void require(String what, CmState... allowed) {
    if (destroyed) {
      throw new VerbsException(Errno.EINVAL, what + ": the connection was destroyed");
    }
    if (!state.in(allowed)) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s: the connection is in state %s, it must be in %s".formatted(what, state, Arrays.toString(allowed)));
    }
  }

  @Override
  public String toString() {
    return "cm id %#010x (%s, service %#018x)".formatted(localId, state(), serviceId());
  }
}
