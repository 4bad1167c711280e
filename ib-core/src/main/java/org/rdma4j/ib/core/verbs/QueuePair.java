package org.rdma4j.ib.core.verbs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.roce.address.Gid;

/**
 * A queue pair ({@code struct ib_qp}, {@code ibv_create_qp}). The control path is safe for any thread and checked by
 * the core: state table, attribute masks and ranges before {@link #doModify}, use counts before {@link #doDestroy}.
 * The data path goes straight to the provider's override; posting sends, and posting receives, by one thread at a
 * time each unless the provider says more.
 *
 * <p>For providers, how a queue pair ends when its device goes: {@link #doQuiesce()}, then, after all queue pairs of
 * the device are quiet, {@link #doDestroy()}. From the first on posting fails with EIO, for ever.
 */
@ProviderType
public abstract class QueuePair extends VerbsObject {
  private static final QpState[] STATES = QpState.values();
  private static final int STATE = 7;
  private static final int SETTING = STATE + 1;

  private final int number;
  private final QpCapabilities capabilities;
  /** The state, and how often it was set, so that a report of the provider during a change is noticed. */
  private final AtomicInteger state = new AtomicInteger(QpState.RESET.ordinal());

  private volatile int port;
  private volatile XrcTarget sharedBy;
  private volatile GidCache.Hold source;
  private final MulticastAttachments multicast = new MulticastAttachments();

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#createQp} was given
   * @param number the queue pair number, 24 bits
   * @param capabilities the sizes there are, at least as asked for
   */
  protected QueuePair(ObjectContext owner, int number, QpCapabilities capabilities) {
    this(owner, ObjectKind.QUEUE_PAIR, number, capabilities);
  }

  QueuePair(ObjectContext owner, ObjectKind kind, int number, QpCapabilities capabilities) {
    super(owner, kind);
    this.number = number;
    this.capabilities = capabilities;
    this.port = owner.qp().type().isManagement() ? owner.qp().port() : 0;
  }

  /** {@return the queue pair number, 24 bits} */
  public final int number() {
    return number;
  }

  /** {@return the transport service type} */
  public final QpType type() {
    return owner().qp().type();
  }

  /** {@return the state, as far as the provider has reported} */
  public final QpState state() {
    return STATES[real().state.get() & STATE];
  }

  /** What does the work: this, except for a handle on a queue pair that is shared. */
  QueuePair real() {
    return this;
  }

  final void shareBy(XrcTarget target) {
    sharedBy = target;
  }

  private void setState(QpState next) {
    int old = state.get();
    while (!state.compareAndSet(old, after(old, next))) {
      old = state.get();
    }
  }

  private static int after(int old, QpState next) {
    return (old & ~STATE) + SETTING + next.ordinal();
  }

  /** {@return the port, from 1; 0 before one was set} */
  public final int port() {
    return real().port;
  }

  /** {@return the sizes there are} */
  public final QpCapabilities capabilities() {
    return capabilities;
  }

  /** {@return the protection domain, or null for a target of an extended reliable connection} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
  }

  /** {@return the queue for completions of sends, or null where there are none} */
  public final CompletionQueue sendCq() {
    return owner().qp().sendCq();
  }

  /** {@return the queue for completions of receives, or null where there are none} */
  public final CompletionQueue recvCq() {
    return owner().qp().recvCq();
  }

  /** {@return the shared receive queue, or null} */
  public final SharedReceiveQueue srq() {
    return owner().qp().srq();
  }

  /** {@return the handle of the XRC domain of a target, or null for other types} */
  public final XrcDomain xrcd() {
    return owner().qp().xrcd();
  }

  /** {@return whether every send completes with a work completion} */
  public final boolean signalAll() {
    return owner().qp().signalAll();
  }

  /** {@return the owner's own object, or null} */
  public final Object userContext() {
    return owner().qp().userContext();
  }

  /**
   * Changes state and attributes ({@code ibv_modify_qp}). The attributes set are the mask; packet sequence numbers
   * are cut to 24 bits.
   *
   * @param attributes what to change; copied
   * @throws VerbsException EINVAL for a transition or attribute that the state table does not allow for the type, a
   *     missing attribute, a value out of range or beyond the device's limits; EIO after removal of the device
   */
  public final void modify(QpAttributes attributes) {
    QpAttributes copy = new QpAttributes(attributes);
    call(
        "modify_qp",
        () -> {
          if (real() == this) {
            modifyChecked(copy);
          } else {
            real().modify(copy);
          }
          return null;
        });
  }

  private void modifyChecked(QpAttributes attributes) {
    int before = state.get();
    QpState current = STATES[before & STATE];
    QpState next = QpRules.checkModify(this, current, attributes);
    GidCache.Hold newSource = null;
    if (attributes.has(QpAttribute.AV)) {
      newSource = deviceState().holdSource(attributes.addressVector(), label());
      attributes.addressVector(attributes.addressVector().withSourceGid(newSource.entry()));
    }
    boolean done = false;
    try {
      doModify(attributes);
      done = true;
    } finally {
      if (!done && newSource != null) {
        newSource.release();
      }
    }
    if (next == QpState.RESET || next == QpState.ERR) {
      setState(next);
    } else {
      // What the provider reported meanwhile is later than what was asked for.
      state.compareAndSet(before, after(before, next));
    }
    if (attributes.has(QpAttribute.PORT)) {
      port = attributes.port();
    }
    if (newSource != null) {
      replaceSource(newSource);
    }
  }

  /**
   * Queries state and attributes ({@code ibv_query_qp}).
   *
   * @return all attributes the provider knows, and the state
   * @throws VerbsException EIO after removal of the device
   */
  public final QpAttributes query() {
    return call("query_qp", () -> real() == this ? doQuery().state(state()) : real().query());
  }

  /**
   * Moves the queue pair to ERR and waits until all that was posted has its completion in the completion queues; from
   * then on none is added ({@code ib_drain_qp}). The completions stay there to be polled, and must be polled
   * meanwhile where the queues have no room for them.
   *
   * @param timeout how long to wait
   * @throws VerbsException ETIMEDOUT where the time is over first; EINVAL in RESET; EIO after removal of the device
   */
  public final void drain(Duration timeout) {
    if (real() != this) {
      checkUsable();
      real().drain(timeout);
      return;
    }
    call(
        "drain_qp",
        () -> {
          if (state() != QpState.ERR) {
            modifyChecked(new QpAttributes().state(QpState.ERR));
          }
          return null;
        });
    if (!doDrain(timeout.toNanos())) {
      throw new VerbsException(Errno.ETIMEDOUT, this + " is not drained after " + timeout);
    }
  }

  /**
   * Attaches the queue pair to a multicast group, so that it receives what is sent to it ({@code ibv_attach_mcast}).
   * Attaching it again does nothing. The queue pair cannot be destroyed while it is attached.
   *
   * @param group the group's address: ff00::/8, or IPv4-mapped 224.0.0.0/4
   * @param lid the group's LID, 0xc000 to 0xfffe; on Ethernet it means nothing
   * @throws VerbsException EINVAL for another type than UD, another GID, or a LID out of range; ENOMEM naming the
   *     limit of the device; EOPNOTSUPP for a device without multicast; EIO after removal of the device; what the
   *     network says where it cannot join
   */
  public final void attachMulticast(Gid group, int lid) {
    call(
        "attach_mcast",
        () -> {
          checkMulticast(group, lid);
          if (!multicast.contains(group, lid)) {
            doAttachMulticast(group, lid);
            multicast.add(group, lid);
          }
          return null;
        });
  }

  /**
   * Detaches the queue pair from a multicast group ({@code ibv_detach_mcast}).
   *
   * @param group the group's address
   * @param lid the LID it was attached with
   * @throws VerbsException EINVAL where it is not attached to the group under this LID, and as {@link
   *     #attachMulticast}; EIO after removal of the device
   */
  public final void detachMulticast(Gid group, int lid) {
    call(
        "detach_mcast",
        () -> {
          checkMulticast(group, lid);
          if (!multicast.contains(group, lid)) {
            throw new VerbsException(
                Errno.EINVAL,
                this + " is not attached to multicast group " + group + " with LID " + lid + ", but to " + multicast);
          }
          doDetachMulticast(group, lid);
          multicast.remove(group, lid);
          return null;
        });
  }

  /** {@code verbs.c:ib_attach_mcast, is_valid_mcast_lid}. */
  private void checkMulticast(Gid group, int lid) {
    if (type() != QpType.UD) {
      throw new VerbsException(Errno.EINVAL, this + " is of type " + type() + "; multicast needs UD");
    }
    if (!group.isMulticast()) {
      throw new VerbsException(Errno.EINVAL, group + " for " + this + " is no multicast GID");
    }
    deviceState().checkMulticastLid(lid, port, this);
  }

  /**
   * Explains a completion of this queue pair to a person: who found what, and where it failed, on which request or
   * packet, with which values. Also after removal of the device. Allocates; not from a provider's thread.
   *
   * @param completion a completion of this queue pair, of a send or a receive
   * @return sentences
   */
  public final String explain(WorkCompletion completion) {
    WcStatus status = completion.status();
    StringBuilder text = new StringBuilder(status.name()).append(" (").append(status.text()).append("): ");
    text.append(status.explanation());
    if (status == WcStatus.SUCCESS) {
      return text.append('.').toString();
    }
    String vendor = deviceState().provider().vendorErrors().get(completion.vendorError());
    if (vendor != null) {
      text.append(String.format(". Vendor error 0x%02x: ", completion.vendorError())).append(vendor);
    }
    return text.append(". ").append(lastFailure()).toString();
  }

  /**
   * Tells what failed first on the queue pair since it was in RESET. Also after removal of the device. Allocates; not
   * from a provider's thread.
   *
   * @return sentences for a person
   */
  public final String lastFailure() {
    String failure = real().doExplain();
    if (!failure.isEmpty()) {
      return "On " + this + ", " + failure + ".";
    }
    return state() == QpState.ERR
        ? "Nothing failed on " + this + ": it is in ERR because it was moved there, because a completion queue lost"
            + " completions, or with its device."
        : "Nothing has failed on " + this + ", which is in " + state() + ".";
  }

  /**
   * Posts a chain of sends; goes straight to the provider and allocates nothing ({@code ibv_post_send}).
   *
   * @param chain the first request; copied
   * @throws PostException EINVAL for a state below RTS or a request that breaks a rule, ENOMEM when full, EIO after
   *     removal of the device; requests before the bad one stay posted
   */
  public abstract void postSend(SendWorkRequest chain);

  /**
   * Posts a chain of receives; goes straight to the provider and allocates nothing ({@code ibv_post_recv}).
   *
   * @param chain the first request; copied
   * @throws PostException EINVAL in RESET, with a shared receive queue, or for too many entries; ENOMEM when full;
   *     EIO after removal of the device; requests before the bad one stay posted
   */
  public abstract void postReceive(ReceiveWorkRequest chain);

  /** {@return the queue pair's one builder of sends ({@code ibv_qp_to_qp_ex})} */
  public abstract WorkRequestBuilder workRequests();

  /**
   * Provider: changes state and attributes. The state table, masks and ranges have been checked, numbers cut, the
   * source GID of the address vector filled in.
   *
   * @param attributes the provider's own copy
   * @throws VerbsException where the device refuses; nothing has changed then
   */
  protected abstract void doModify(QpAttributes attributes);

  /** {@return provider: all attributes it knows; the core adds the state} */
  protected abstract QpAttributes doQuery();

  /**
   * Provider: tells what failed first since the queue pair was in RESET, with all values that a person needs to find
   * the reason. Unlike the other hooks it runs beside any other, and at any time, also after destruction; it does not
   * throw.
   *
   * @return clauses that can follow a comma, without a full stop at the end; empty where nothing failed, or unless
   *     overridden
   */
  protected String doExplain() {
    return "";
  }

  /**
   * Provider: attaches to a multicast group ({@code attach_mcast}). Type, address and LID have been checked, and
   * that it is not attached yet. The end of the queue pair ends its attachments.
   *
   * @param group the group's address
   * @param lid the group's LID; means nothing on Ethernet
   * @throws VerbsException ENOMEM naming the limit; nothing has changed then. EOPNOTSUPP unless overridden
   */
  protected void doAttachMulticast(Gid group, int lid) {
    throw new VerbsException(Errno.EOPNOTSUPP, "multicast for " + this + ": the device does not support it");
  }

  /**
   * Provider: detaches from a multicast group that it is attached to ({@code detach_mcast}).
   *
   * @param group the group's address
   * @param lid the group's LID
   */
  protected void doDetachMulticast(Gid group, int lid) {
    throw new VerbsException(Errno.EOPNOTSUPP, "multicast for " + this + ": the device does not support it");
  }

  /**
   * Provider: waits until all that was posted is completed; the queue pair is in ERR. Unlike the other hooks it may
   * run beside any other, and returns true as soon as {@link #doQuiesce()} or {@link #doDestroy()} has ended the
   * work.
   *
   * @param timeoutNanos how long to wait
   * @return false where the time was over first
   */
  protected abstract boolean doDrain(long timeoutNanos);

  /**
   * Provider: the device goes. Posting fails with EIO from now on, also for threads that are posting at this moment:
   * each request is either refused or posted. Then everything posted is completed, in order, with WR_FLUSH_ERR unless
   * it was done already, and the completions are put into the completion queues with their events raised. Returns
   * when all are there. The queue pair sends and receives nothing any more.
   */
  protected abstract void doQuiesce();

  /**
   * Provider: ends the queue pair. Without {@link #doQuiesce()} before, work still posted vanishes without
   * completion, as {@code ibv_destroy_qp} has it; completions already in the queues stay.
   *
   * @throws VerbsException where the device refuses; the queue pair stays
   */
  protected abstract void doDestroy();

  /**
   * Provider: the queue pair changed its state by itself, such as to ERR after a fatal completion or to SQE. From any
   * thread; does not block or allocate.
   *
   * @param next the state it has now
   */
  protected final void stateChanged(QpState next) {
    setState(next);
  }

  /**
   * Provider: reports an event of the queue pair, from any thread; does not block.
   *
   * @param type an event of scope QP
   */
  protected final void raise(AsyncEventType type) {
    XrcTarget target = sharedBy;
    if (target == null) {
      context().raise(type, this, port);
    } else {
      target.raise(type, port);
    }
  }

  final void quiesce(long patienceMillis) {
    boolean locked = lockWithin(patienceMillis);
    try {
      deviceState().provider().tracedRun("flush_qp", this, this::doQuiesce);
    } finally {
      setState(QpState.ERR);
      if (locked) {
        unlock();
      }
    }
  }

  final void abandonQuiesce() {
    hookHangs();
    setState(QpState.ERR);
  }

  private void replaceSource(GidCache.Hold next) {
    GidCache.Hold old = source;
    source = next;
    if (old != null) {
      old.release();
    }
  }

  @Override
  final void providerDestroy() {
    doDestroy();
  }

  /** {@code verbs.c:ib_destroy_qp_user}: attachments are uses; who ends a context ends them with the queue pair. */
  @Override
  final String alsoUsedBy() {
    return multicast.isEmpty() ? null : "its multicast attachments " + multicast;
  }

  @Override
  final void released() {
    replaceSource(null);
    deviceState().managementQps().release(owner().qp());
  }
}
