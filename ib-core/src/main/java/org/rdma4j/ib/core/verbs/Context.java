package org.rdma4j.ib.core.verbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A way to a device and the owner of all that is made through it ({@code struct ibv_context}, {@code ib_ucontext}). It
 * belongs to the bundle that opened it and is closed with it. Safe for any thread.
 *
 * <p>When the device goes the context receives DEVICE_FATAL, every later call on its objects fails with EIO, and
 * completions already in its queues stay to be polled. Closing it is still possible and does nothing.
 */
public final class Context implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Context.class);

  private final DeviceState state;
  private final RdmaDevice device;
  private final String bundle;
  private final String comm;
  private final boolean kernel;
  private final int id;
  private final long sequence;
  private final boolean owned;
  private final CreationSite site;
  private final CallGate makers = new CallGate();
  private final AtomicBoolean fatalTold = new AtomicBoolean();
  private final AsyncEvents events;

  Context(DeviceState state, RdmaDevice device, String bundle, String comm, boolean kernel) {
    this.state = state;
    this.device = device;
    this.bundle = bundle;
    this.comm = comm;
    this.kernel = kernel;
    this.sequence = state.nextSequence();
    this.owned = true;
    this.site = state.creationSite();
    this.id = kernel ? -1 : state.tracker().addContext(this);
    this.events = new AsyncEvents(state.name() + " ctx " + comm + " #" + sequence);
  }

  /** For what belongs to no user and outlives its maker, who answers for it in listings; nobody closes it. */
  Context(Context maker) {
    this.state = maker.state;
    this.device = maker.device;
    this.bundle = maker.bundle;
    this.comm = maker.comm;
    this.kernel = maker.kernel;
    this.sequence = maker.sequence;
    this.owned = false;
    this.site = null;
    this.id = maker.id;
    this.events = maker.events;
  }

  /** {@return the device} */
  public RdmaDevice device() {
    return device;
  }

  /** {@return the name of the device} */
  public String deviceName() {
    return state.name();
  }

  /** {@return what the device is and can do} */
  public DeviceAttributes attributes() {
    return state.attributes();
  }

  /** {@return its number in resource tracking; -1 for kernel style clients} */
  public int id() {
    return id;
  }

  /** {@return the symbolic name of the owning bundle} */
  public String bundle() {
    return bundle;
  }

  /** {@return the name in resource tracking} */
  public String comm() {
    return comm;
  }

  /** {@return true for the context of a kernel style client} */
  public boolean isKernel() {
    return kernel;
  }

  /** {@return true once the device is gone or the context is closed} */
  public boolean isClosed() {
    return makers.isClosed() || state.gate().isClosed();
  }

  /**
   * Makes a protection domain ({@code ibv_alloc_pd}).
   *
   * @return the domain
   * @throws VerbsException ENOMEM at max_pd; ENODEV where the device takes no new users, EIO after its removal, EINVAL
   *     on a closed context
   */
  public ProtectionDomain allocatePd() {
    ObjectContext owner = new ObjectContext(this, ObjectKind.PROTECTION_DOMAIN);
    return state.create(owner, ProtectionDomain.class, () -> state.provider().createPd(owner));
  }

  /**
   * Makes a channel for completion events ({@code ibv_create_comp_channel}).
   *
   * @return the channel
   * @throws VerbsException ENODEV, EIO, EINVAL as {@link #allocatePd()}
   */
  public CompletionChannel createCompletionChannel() {
    ObjectContext owner = new ObjectContext(this, ObjectKind.COMPLETION_CHANNEL);
    return state.create(owner, CompletionChannel.class, () -> new CompletionChannel(owner));
  }

  /**
   * Makes a completion queue ({@code ibv_create_cq}).
   *
   * @param entries at least so many entries, 1 to max_cqe
   * @param channel where its events go, or null for none
   * @param vector the completion vector, 0 to the device's completion vectors - 1
   * @return the queue
   * @throws VerbsException EINVAL for a number out of range or a channel of another context; ENOMEM at max_cq; ENODEV,
   *     EIO as {@link #allocatePd()}
   */
  public CompletionQueue createCq(int entries, CompletionChannel channel, int vector) {
    QpRules.checkCqSize(entries, attributes(), state.name());
    if (vector < 0 || vector >= attributes().completionVectors()) {
      throw new VerbsException(
          Errno.EINVAL,
          "completion vector " + vector + " of " + state.name() + " is not below " + attributes().completionVectors());
    }
    if (channel != null && channel.context() != this) {
      throw new VerbsException(Errno.EINVAL, channel + " belongs to another context");
    }
    CqInitAttributes init = new CqInitAttributes(entries, channel, vector);
    VerbsObject[] parents = channel == null ? new VerbsObject[0] : new VerbsObject[] {channel};
    ObjectContext owner = new ObjectContext(this, ObjectKind.COMPLETION_QUEUE, parents).with(init);
    return state.create(owner, CompletionQueue.class, () -> state.provider().createCq(owner, init));
  }

  /**
   * Opens an XRC domain ({@code ibv_open_xrcd}). Everybody who opens a name on the device shares one domain; the name
   * stands where the C API has the inode of a file.
   *
   * @param name the name, or null for a domain that nobody else can open
   * @param flags CREATE to make the domain where there is none; EXCLUSIVE to fail where there is one
   * @return a handle
   * @throws VerbsException EAGAIN where there is none and CREATE is not given, EINVAL where there is one and EXCLUSIVE
   *     is; EOPNOTSUPP where the device has no extended reliable connections; ENODEV, EIO, EINVAL as
   *     {@link #allocatePd()}
   */
  public XrcDomain openXrcd(String name, XrcOpenFlag... flags) {
    QpRules.checkXrc(attributes(), state.name());
    Set<XrcOpenFlag> how = Set.of(flags);
    ObjectContext owner = new ObjectContext(this, ObjectKind.XRC_DOMAIN);
    return state.create(owner, XrcDomain.class, () -> state.xrcDomains().open(owner, name, how));
  }

  /**
   * Hands asynchronous events to a handler from now on, beginning with those that wait for {@link #getAsyncEvent}.
   * Handlers run on a thread of the core, one event after the other; what one throws is logged and stops nothing.
   *
   * @param handler the handler
   */
  public void addAsyncEventHandler(Consumer<AsyncEvent> handler) {
    events.addHandler(handler);
  }

  /**
   * Takes a handler away; it may still be running when this returns.
   *
   * @param handler what was added
   */
  public void removeAsyncEventHandler(Consumer<AsyncEvent> handler) {
    events.removeHandler(handler);
  }

  /**
   * Takes the next asynchronous event, waiting for it ({@code ibv_get_async_event}). While there are handlers it takes
   * none.
   *
   * @param timeout how long to wait; zero to look only; null to wait for ever
   * @return the event, or null where the time was over first
   * @throws VerbsException ECANCELED when interrupted (the interrupt flag stays set), EIO after removal of the device
   *     or close of the context when all events were taken
   */
  public AsyncEvent getAsyncEvent(Duration timeout) {
    try {
      AsyncEvent event = events.take(timeout);
      if (event == null && events.isEnded()) {
        throw state.removed("context " + comm + " of " + state.name());
      }
      return event;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(Errno.ECANCELED, "interrupted while waiting for an event of " + state.name(), e);
    }
  }

  /** Destroys all that is left in the context, dependants first, and closes it. Does nothing when done before. */
  @Override
  public void close() {
    synchronized (makers) {
      if (makers.isClosed()) {
        return;
      }
      makers.close();
    }
    if (LOG.isDebugEnabled()) {
      LOG.debug("closing {}", leftOpen());
    }
    if (state.gate().tryEnter()) {
      try {
        awaitMakers();
        destroyLeft();
      } finally {
        state.gate().exit();
      }
    }
    events.close();
    state.forget(this);
  }

  @Override
  public String toString() {
    return "context " + comm + " of " + state.name();
  }

  DeviceState state() {
    return state;
  }

  CallGate makers() {
    return makers;
  }

  ResourceTable.Owner owner(long objectSequence) {
    long pid = kernel ? 0 : ProcessHandle.current().pid();
    return new ResourceTable.Owner(bundle, comm, pid, kernel, id, objectSequence);
  }

  long sequence() {
    return sequence;
  }

  /** Who is making an object of this context now, or null where that is not noted. */
  CreationSite creationSite() {
    return owned ? state.creationSite() : null; // What outlives its maker must not hold his classes.
  }

  boolean hasObjects() {
    return !state.tracker().inDestructionOrder(each -> each.context() == this).isEmpty();
  }

  /** What is still there: {@code context pp of rxe0, opened at ..., with QP 17 made at ..., ...}. */
  String leftOpen() {
    StringBuilder text = new StringBuilder(toString());
    if (site != null) {
      text.append(", opened at ").append(site);
    }
    String before = ", with ";
    for (VerbsObject each : state.tracker().inDestructionOrder(each -> each.context() == this)) {
      text.append(before).append(each.label());
      CreationSite made = each.owner().site();
      if (made != null) {
        text.append(" made at ").append(made);
      }
      before = ", ";
    }
    return text.toString();
  }

  /** That the device is dead is told once, whether its provider has found it so or it goes, or both. */
  void raise(AsyncEventType type, VerbsObject element, int port) {
    if (type != AsyncEventType.DEVICE_FATAL || !fatalTold.getAndSet(true)) {
      events.post(new AsyncEvent(type, state.name(), element, port));
    }
  }

  /** The device is gone: the last event, then none. */
  void disassociate() {
    raise(AsyncEventType.DEVICE_FATAL, null, 0);
    events.end();
  }

  private void destroyLeft() {
    List<ProviderHooks.Step> steps = new ArrayList<>();
    for (VerbsObject each : state.tracker().inDestructionOrder(object -> object.context() == this)) {
      if (!(each instanceof CompletionChannel)) {
        steps.add(each.end(false, DeviceState.PATIENCE_MILLIS));
      }
    }
    state.hooks().run(state.name(), steps);
    // Channels are the core's own: this may be a handler of one of them, which must not wait for itself.
    state.tracker().inDestructionOrder(object -> object.context() == this)
        .forEach(each -> each.end(false, DeviceState.PATIENCE_MILLIS).hook().run());
  }

  private void awaitMakers() {
    try {
      if (!makers.awaitEmpty(DeviceState.PATIENCE_MILLIS)) {
        LOG.warn("a call that makes an object of {} does not return; it is left behind", this);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
