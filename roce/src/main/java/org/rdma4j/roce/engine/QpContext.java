package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;

/**
 * A queue pair as the engine keeps it (kernel: {@code struct rxe_qp}; in silicon, the QP context). Everything but
 * {@link #ring()}, {@link #state()} and {@link #number()} belongs to the engine thread: other threads come through
 * {@link Engine#call}.
 */
public final class QpContext {
  private static final int GSI_QKEY = 0x8001_0000;
  /** Requests get at least one of so many parts of a burst. */
  private static final int REQUESTER_SHARE = 4;
  private static final VarHandle DOORBELL;

  static {
    try {
      DOORBELL = MethodHandles.lookup().findVarHandle(QpContext.class, "doorbell", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Engine engine;
  private final int number;
  private final QpKind kind;
  private final int protectionDomain;
  private final boolean signalsAll;
  private final QpHost host;
  private final ReceiveSource receives;
  private final QpSettings settings = new QpSettings();
  private final SendQueue queue;
  private final Requester requester;
  private final Completer completer;
  private final Responder responder;
  private final FailureRecord failure = new FailureRecord(this);
  private volatile TransportState state = TransportState.RESET;
  private boolean communicationEstablished;
  private boolean drainPending;
  private boolean faulted;

  @SuppressWarnings("unused") // Through DOORBELL.
  private volatile boolean doorbell;

  QpContext nextRung;
  QpContext nextReady;
  boolean ready;
  boolean removed;
  QpContext timerNext;
  QpContext timerPrevious;
  long timerTick = TimerWheel.NOT_ARMED;

  QpContext(Engine engine, QpProfile profile, QpHost host, ReceiveSource receives) {
    this.engine = engine;
    this.number = profile.number();
    this.kind = profile.kind();
    this.protectionDomain = profile.protectionDomain();
    this.signalsAll = profile.signalsAll();
    this.host = host;
    this.receives = receives;
    this.queue = new SendQueue(this, profile.sendDepth(), profile.maxSendSge(), engine.completion());
    this.completer = new Completer(this, queue);
    this.requester = new Requester(this, queue, engine.config());
    this.completer.connect(requester);
    this.responder =
        switch (kind) {
          case RC, XRC_INI, XRC_TGT -> new ReliableResponder(this, engine.completion(), profile.maxReceiveSge());
          case UC -> new UnreliableResponder(this, engine.completion(), profile.maxReceiveSge());
          case UD, GSI -> new DatagramResponder(this, engine.completion(), profile.maxReceiveSge());
        };
  }

  /** {@return the queue pair number} */
  public int number() {
    return number;
  }

  /** {@return the transport service} */
  public QpKind kind() {
    return kind;
  }

  /** {@return the state now; any thread} */
  public TransportState state() {
    return state;
  }

  /** {@return the attributes in force; engine thread, read only} */
  public QpSettings settings() {
    return settings;
  }

  /** {@return PSN of the next request to be sent; engine thread} */
  public int sendPsn() {
    return requester.psn();
  }

  /** {@return PSN of the oldest request that is not acknowledged; engine thread} */
  public int unacknowledgedPsn() {
    return completer.psn();
  }

  /** {@return PSN expected next from the peer; engine thread} */
  public int receivePsn() {
    return responder.expectedPsn();
  }

  /** {@return whether a drain was asked for and is not done; engine thread} */
  public boolean isDraining() {
    return drainPending;
  }

  /** Tells the engine that work was posted. Any thread; neither blocks nor allocates. */
  public void ring() {
    if (DOORBELL.compareAndSet(this, false, true)) {
      engine.rung(this);
    }
  }

  /** The engine has seen the doorbell and looks at the rings after this. */
  void answerDoorbell() {
    DOORBELL.setVolatile(this, false);
  }

  /**
   * Moves to a state; the change is one that verbs allow. Engine thread.
   *
   * @param target state to enter
   */
  public void modify(TransportState target) {
    TransportState from = state;
    switch (target) {
      case RESET -> {
        settle();
        reset();
      }
      case RTR -> {
        responder.start(settings.receivePsn);
        responder.resize(settings.maxDestinationReadAtomic);
        communicationEstablished = false;
        state = target;
      }
      case RTS -> {
        if (from == TransportState.RTR) {
          requester.start(settings.sendPsn);
          completer.start(settings.sendPsn);
        } else if (from == TransportState.SQE) {
          queue.flush(); // What was posted until now belongs to the failed queue.
          failure.clear();
        }
        completer.resetRetries();
        drainPending = false;
        state = target;
      }
      case SQD -> {
        state = target;
        drainPending = true;
        checkDrained();
      }
      case ERR -> {
        settle();
        toError();
      }
      default -> state = target;
    }
    engine.schedule(this);
  }

  /** Takes the P_Key at {@link QpSettings#pkeyIndex} from the port's table. Engine thread. */
  public void takePkey() {
    settings.pkey = engine.pkeys().get(settings.pkeyIndex);
  }

  /**
   * Tells what failed first since the queue pair was in RESET: which check, on which request or packet, with which
   * values. Engine thread, or {@link Engine#call}.
   *
   * @return sentences for a person, without a full stop at the end; empty when nothing failed
   */
  public String failureText() {
    return failure.text();
  }

  /** The protection domain that requests of the peer are checked against. */
  int peerDomain() {
    return responder.protectionDomain();
  }

  FailureRecord failure() {
    return failure;
  }

  /** The size of the reply store changed while requests may be running (SQD to SQD). Engine thread. */
  public void resizeReplies() {
    responder.resize(settings.maxDestinationReadAtomic);
  }

  /** The user ends the queue pair, or moves it where it answers no more. Not while a packet is being written. */
  void settle() {
    if (state.receives()) {
      responder.settle(engine.link());
    }
  }

  private void reset() {
    state = TransportState.RESET;
    failure.clear();
    completer.stop();
    queue.discard();
    responder.discard();
    drainPending = false;
    faulted = false;
  }

  /** The transport gives up by itself. */
  void enterError() {
    if (state != TransportState.ERR) {
      state = TransportState.ERR;
      try {
        host.entered(TransportState.ERR);
      } finally {
        endWork(true);
      }
    }
  }

  /**
   * A request failed at its requester. A connection that is reliable ends with it; of an unreliable service only the
   * send queue fails, and receives go on (IBA specification section 10.3.1, SQEr).
   */
  void failSends() {
    if (kind.isReliable()) {
      enterError();
    } else if (state.sends()) {
      state = TransportState.SQE;
      drainPending = false;
      requester.abandon();
      try {
        host.entered(TransportState.SQE);
      } finally {
        queue.flush();
      }
    }
  }

  private void toError() {
    boolean entered = state != TransportState.ERR;
    state = TransportState.ERR;
    endWork(entered);
  }

  private void endWork(boolean entered) {
    drainPending = false;
    completer.stop();
    flush();
    if (entered && receives.isShared()) {
      host.event(QpEvent.LAST_WQE_REACHED); // No receive is held any more.
    }
  }

  /** Something in the engine went wrong on this queue pair; true the first time since RESET. */
  boolean fault() {
    if (faulted) {
      enterError();
      return false;
    }
    faulted = true;
    try {
      enterError();
    } finally {
      host.event(QpEvent.FATAL);
    }
    return true;
  }

  private void flush() {
    queue.flush();
    responder.flush();
  }

  void checkDrained() {
    if (drainPending && state == TransportState.SQD && !queue.hasStarted()) {
      drainPending = false;
      if (settings.notifyDrained) {
        host.event(QpEvent.SEND_QUEUE_DRAINED);
      }
    }
  }

  /**
   * Sends what is due: responses first, then requests, then an acknowledge.
   *
   * @return true when more is due that the link or the budget held up
   */
  boolean serve(Link link, int budget) {
    if (state == TransportState.ERR) {
      flush();
      return false;
    }
    if (state == TransportState.SQE) {
      queue.flush();
      return false;
    }
    int left = budget;
    if (responder.hasResponses()) {
      int sent = responder.respond(link, budget);
      if (sent < 0) {
        return true;
      }
      // A peer that never stops reading does not keep own requests from being sent.
      left = Math.max(left - sent, 1 + budget / REQUESTER_SHARE);
    }
    boolean more = false;
    boolean sentRequests = false;
    if (state.sends() && !completer.waitsForRnrTimer()) {
      completer.probe(link);
      int before = requester.psn();
      more = requester.transmit(link, left);
      sentRequests = requester.psn() != before;
      checkDrained();
    }
    responder.acknowledge(link, sentRequests);
    return (more || responder.hasResponses()) && state != TransportState.ERR;
  }

  /** Takes a packet whose opcode is known and whose length covers its headers. */
  void onPacket(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    if (kind.isConnected() && !comesFromPeer(received)) {
      engine.counters().increment(EngineCounter.DROPPED_NO_QP);
      return;
    }
    boolean response = (Opcode.flags(opcode) & OpcodeFlag.RESPONSE) != 0;
    if (!kind.takes(response) || (response ? !state.sends() : !state.receives())) {
      engine.counters().increment(EngineCounter.DROPPED_NO_QP);
      return;
    }
    if (kind.isDatagram() && Deth.qkey(packet, at + Opcode.dethOffset(opcode)) != qkey()) {
      engine.counters().increment(EngineCounter.BAD_QKEY);
      return;
    }
    engine.counters().increment(EngineCounter.RCVD_PKTS);
    if (state == TransportState.RTR && !communicationEstablished) {
      communicationEstablished = true;
      host.event(QpEvent.COMMUNICATION_ESTABLISHED);
    }
    if (response) {
      completer.onResponse(packet, at, length, opcode);
    } else {
      responder.onRequest(received, packet, at, length, opcode);
    }
  }

  private boolean comesFromPeer(ReceivedPacket received) {
    var route = settings.route;
    return route != null
        && route.destination().hi() == received.sourceHi()
        && route.destination().lo() == received.sourceLo()
        && route.source().hi() == received.destinationHi()
        && route.source().lo() == received.destinationLo();
  }

  int qkey() {
    return kind == QpKind.GSI ? GSI_QKEY : settings.qkey;
  }

  /** IBA specification section 10.2.5: with the top bit set, the queue pair's own Q_Key is sent. */
  int qkeyFor(SendWork work) {
    return kind == QpKind.GSI || work.remoteQkey < 0 ? qkey() : work.remoteQkey;
  }

  void onTimer(long now) {
    if (!state.sends()) {
      return;
    }
    try {
      completer.onTimer(now);
    } catch (RuntimeException | Error e) {
      engine.fault(this, e);
    }
  }

  long deadline() {
    return completer.deadline();
  }

  Engine engine() {
    return engine;
  }

  Completer completer() {
    return completer;
  }

  QpHost host() {
    return host;
  }

  ReceiveSource receives() {
    return receives;
  }

  int protectionDomain() {
    return protectionDomain;
  }

  boolean signalsAll() {
    return signalsAll;
  }
}
