package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MigrationState;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.QpAttribute;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.NoReceives;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.link.Route;
import org.rdma4j.rxe.ring.ReceiveRing;
import org.rdma4j.rxe.ring.WorkRing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair (kernel: {@code struct rxe_qp}): rings on one side, the engine's transport on the other. Posting is
 * safe for any thread. The control path changes the transport on the engine's thread, between two duty cycles.
 */
final class RxeQueuePair extends QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(RxeQueuePair.class);
  private static final QpState[] STATES = QpState.values();
  private static final TransportState[] TRANSPORT_STATES = TransportState.values();

  /** The queue pair's own receive queue, as the engine sees it. */
  private record OwnReceives(ReceiveRing receives) implements ReceiveSource {
    @Override
    public boolean take(ReceiveWork work) {
      return receives.take(work);
    }

    @Override
    public boolean isShared() {
      return false;
    }
  }

  private final RxeDevice device;
  private final QpRings rings;
  private final SendPosting sends;
  private final ReceivePosting receives; // null with a shared receive queue
  private final RxeWorkRequestBuilder builder;
  private final QpAttributeStore attributes = new QpAttributeStore();
  private RxeQpHost host; // these two set once, on the engine's thread, before anybody knows the queue pair
  private QpContext transport;
  private boolean destroyed; // engine's thread
  private int replies; // engine's thread
  private boolean quiet; // control path

  RxeQueuePair(ObjectContext owner, RxeDevice device, int number, QpRings rings) {
    super(owner, number, rings.capabilities());
    this.device = device;
    this.rings = rings;
    SendRules rules = new SendRules(device, type(), capabilities().maxSendSge(), capabilities().maxInlineData());
    WorkRing ring = rings.sends();
    this.sends = new SendPosting(this, ring, rules);
    this.builder = new RxeWorkRequestBuilder(this, ring, rules);
    this.receives = rings.receives() == null ? null : new ReceivePosting(this, rings.receives());
    device.engine().run(() -> createTransport(rules));
  }

  private void createTransport(SendRules rules) {
    int domain = protectionDomain() == null ? 0 : ((RxeProtectionDomain) protectionDomain()).number();
    QpProfile profile =
        new QpProfile(
            number(),
            kind(type()),
            domain,
            signalAll(),
            rings.sends().capacity(),
            rules.maxSge(),
            receives == null ? Limits.MAX_SRQ_SGE : rings.receives().maxSge());
    ReceiveSource source =
        switch (type()) {
          case XRC_INI -> NoReceives.INITIATOR;
          case XRC_TGT -> NoReceives.TARGET;
          default ->
              receives == null ? ((RxeSharedReceiveQueue) srq()).source() : new OwnReceives(rings.receives());
        };
    host = new RxeQpHost(this, device, rings.sends(), rules, domain);
    transport = device.engine().create(profile, host, source);
    if (sendQueue() != null) {
      sendQueue().attach(this);
    }
    if (receiveQueue() != null) {
      receiveQueue().attach(this);
    }
  }

  static QpKind kind(QpType type) {
    return switch (type) {
      case RC -> QpKind.RC;
      case UC -> QpKind.UC;
      case UD -> QpKind.UD;
      case XRC_INI -> QpKind.XRC_INI;
      case XRC_TGT -> QpKind.XRC_TGT;
      case GSI -> QpKind.GSI;
      default ->
          throw new VerbsException(
              Errno.EOPNOTSUPP, "queue pairs of type " + type + "; there are RC, UC, UD, GSI and both of XRC");
    };
  }

  RxeDevice device() {
    return device;
  }

  QpRings rings() {
    return rings;
  }

  QpContext transport() {
    return transport;
  }

  RxeCompletionQueue sendQueue() {
    return (RxeCompletionQueue) sendCq();
  }

  RxeCompletionQueue receiveQueue() {
    return (RxeCompletionQueue) recvCq();
  }

  @Override
  public void postSend(SendWorkRequest chain) {
    sends.post(chain, MwType.TYPE_2);
  }

  /** Posts the bind of a window of type 1. */
  void postBind(SendWorkRequest bind) {
    sends.post(bind, MwType.TYPE_1);
  }

  @Override
  public void postReceive(ReceiveWorkRequest chain) {
    if (receives == null) {
      String why = type() == QpType.XRC_INI ? "it has no receives" : "it has a shared receive queue, post there";
      throw new VerbsException(Errno.EINVAL, "post_recv to " + this + ": " + why);
    }
    if (transport.state() == TransportState.RESET) {
      throw receives.refusal(Errno.EINVAL, "the state is RESET; receives are posted from INIT on", chain);
    }
    try {
      receives.post(chain);
    } finally {
      // The receive was published by a volatile store before this volatile load, and the engine enters ERR by a
      // volatile store before it looks for receives to flush: either it sees the receive, or this sees ERR.
      if (transport.state() == TransportState.ERR) {
        transport.ring();
      }
    }
  }

  @Override
  public WorkRequestBuilder workRequests() {
    return builder;
  }

  @Override
  protected void doModify(QpAttributes wanted) {
    if (wanted.has(QpAttribute.PATH_MIG_STATE) && wanted.pathMigrationState() != MigrationState.MIGRATED) {
      throw new VerbsException(Errno.EOPNOTSUPP, "path migration of " + this + ": there is no alternate path on RoCE");
    }
    QpState known = state();
    device.engine().run(() -> modifyOnEngine(wanted, known));
  }

  private void modifyOnEngine(QpAttributes wanted, QpState known) {
    TransportState from = transport.state();
    TransportState to = wanted.has(QpAttribute.STATE) ? TRANSPORT_STATES[wanted.state().ordinal()] : from;
    if (from == TransportState.ERR && to != TransportState.RESET && to != TransportState.ERR) {
      throw new VerbsException(Errno.EINVAL, this + " went into ERR by itself; from there only RESET is possible");
    }
    if (from == TransportState.SQE && known != QpState.SQE && to == TransportState.RTS) {
      throw new VerbsException(Errno.EINVAL, this + " went into SQE by itself; the way to RTS begins there");
    }
    if (transport.isDraining() && to != TransportState.ERR && to != TransportState.RESET) {
      throw new VerbsException(Errno.EINVAL, this + " is draining; until SQ_DRAINED only ERR and RESET are possible");
    }
    Route route = wanted.has(QpAttribute.AV) ? device.route(wanted.addressVector()) : null;
    if (to == TransportState.RESET || wanted.has(QpAttribute.MAX_DEST_RD_ATOMIC)) {
      holdReplies(to == TransportState.RESET ? 0 : wanted.maxDestRdAtomic());
    }
    if (to == TransportState.RESET) {
      attributes.forget();
    }
    attributes.apply(wanted, route, transport.settings());
    transport.takePkey();
    if (wanted.has(QpAttribute.STATE) && !(from == TransportState.SQD && to == TransportState.SQD)) {
      transport.modify(to);
      entered(transport.state()); // In the order in which the engine reports what comes after.
    } else if (wanted.has(QpAttribute.MAX_DEST_RD_ATOMIC)) {
      transport.resizeReplies();
    }
  }

  private void holdReplies(int count) {
    device.holdReplies(count - replies, this);
    replies = count;
  }

  @Override
  protected QpAttributes doQuery() {
    return device
        .engine()
        .call(() -> attributes.query(transport, capabilities(), transport.settings().notifyDrained));
  }

  @Override
  protected String doExplain() {
    return device.engine().call(transport::failureText);
  }

  @Override
  protected void doAttachMulticast(Gid group, int lid) {
    device.multicast().attach(group, this);
  }

  @Override
  protected void doDetachMulticast(Gid group, int lid) {
    device.multicast().detach(group, this);
  }

  /** In ERR the engine flushes all that is posted whenever it looks at the queue pair, so one look is enough. */
  @Override
  protected boolean doDrain(long timeoutNanos) {
    device.engine().run(this::flush);
    return true;
  }

  /** Nobody posts any more once the rings are closed; what was posted before is visible to the flush. */
  @Override
  protected void doQuiesce() {
    closeRings();
    device.engine().run(this::flush);
    quiet = true;
  }

  private void flush() {
    if (!destroyed) {
      transport.modify(TransportState.ERR);
    }
  }

  /** Where the engine has nothing left to complete, nobody needs to wait until it forgets the queue pair. */
  @Override
  protected void doDestroy() {
    closeRings();
    if (quiet) {
      device.engine().defer(this::leave);
    } else {
      device.engine().run(this::leave);
    }
    device.releaseQp(number());
  }

  private void leave() {
    destroyed = true;
    holdReplies(0);
    device.engine().destroy(transport);
    host.unbindWindows();
    if (sendQueue() != null) {
      sendQueue().detach(this);
    }
    if (receiveQueue() != null) {
      receiveQueue().detach(this);
    }
  }

  private void closeRings() {
    rings.sends().close();
    if (rings.receives() != null) {
      rings.receives().ring().close();
    }
  }

  /** A completion queue lost completions. Engine thread. */
  void failed() {
    stateChanged(QpState.ERR);
    if (transport.state() != TransportState.ERR) {
      transport.modify(TransportState.ERR);
    }
  }

  /** The transport has changed its state by itself. Engine thread. */
  void entered(TransportState state) {
    stateChanged(STATES[state.ordinal()]);
    if (state == TransportState.ERR && LOG.isDebugEnabled()) {
      LOG.debug("{} went into error: {}", this, transport.failureText());
    }
  }

  /** Engine thread. */
  void report(AsyncEventType event) {
    raise(event);
  }
}
