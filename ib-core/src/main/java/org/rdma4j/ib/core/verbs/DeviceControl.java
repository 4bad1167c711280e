package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The core's side of a device: what drives it through its life. {@link IbDevice#bind} gives it to the one who registers
 * the device, nobody else can get it. The steps come in this order: {@link #load}, {@link #enable}, {@link #accept};
 * then {@link #refuse}, {@link #disassociate}, {@link #destroyLeft}, {@link #release}. Any step may be followed by the
 * last four, which never throw and do nothing the second time. Safe for any thread; the caller keeps the steps in
 * order.
 */
public final class DeviceControl {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceControl.class);

  private final IbDevice provider;
  private final DeviceState state;
  private boolean released;

  DeviceControl(IbDevice provider) {
    this.provider = provider;
    this.state = new DeviceState(provider);
  }

  /**
   * Validates the device and fills its caches, except the GID tables of RoCE ports.
   *
   * @param name the name it has from now on
   * @param index its index
   * @throws VerbsException with the reason why it cannot be registered
   */
  public void load(String name, int index) {
    state.load(name, index);
  }

  /**
   * Lets somebody see the verbs of the device.
   *
   * @param tracer who, or null for nobody
   */
  public void trace(VerbsTracer tracer) {
    provider.trace(tracer);
  }

  /**
   * Records why the device could not be registered, for its provider to read.
   *
   * @param reason why
   */
  public void fail(VerbsException reason) {
    provider.fail(reason);
  }

  /**
   * Lets the provider start.
   *
   * @throws VerbsException what the provider says
   */
  public void enable() {
    DeviceState.guarded(
        () -> {
          provider.tracedRun("enable_driver", state.name(), provider::enable);
          return null;
        },
        "enable_driver of " + state.name());
  }

  /** From now on the device takes users. */
  public void accept() {
    state.accept(true);
  }

  /** Step 1 of the removal: opening and creating fail with ENODEV. */
  public void refuse() {
    state.accept(false);
  }

  /**
   * Steps 3 and 4 begin: contexts receive DEVICE_FATAL and every later call fails with EIO; calls that are inside may
   * finish.
   *
   * @param patienceMillis how long to wait for them
   */
  public void disassociate(long patienceMillis) {
    state.gate().close();
    provider.tracedRun(
        "disassociate_ucontext", state.name(), () -> state.contexts().forEach(Context::disassociate));
    try {
      if (!state.gate().awaitEmpty(patienceMillis)) {
        LOG.warn("a call on {} does not return; the removal goes on without it", state.name());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Sets how long steps 4 and 5, and a context that closes, wait for a hook of the provider: after the first time it is
   * named in the log with its stack, after the second it is left behind with its thread, and the device goes on.
   *
   * @param warnMillis from the begin of a hook, 1 or more; 5,000 before this is called
   * @param limitMillis from the begin of a hook, 1 or more; 30,000 before this is called
   */
  public void patience(long warnMillis, long limitMillis) {
    state.hooks().patience(warnMillis, limitMillis);
  }

  /**
   * Step 4: what is left is flushed and destroyed, dependants first.
   *
   * @param patienceMillis how long to wait for a call on an object that has not returned
   */
  public void destroyLeft(long patienceMillis) {
    List<VerbsObject> left = state.tracker().inDestructionOrder(each -> true);
    List<ProviderHooks.Step> steps = new ArrayList<>();
    for (VerbsObject each : left) {
      if (each instanceof QueuePair qp) {
        steps.add(
            new ProviderHooks.Step("flush of", qp, () -> qp.quiesce(patienceMillis), qp::abandonQuiesce));
      }
    }
    left.forEach(each -> steps.add(each.end(true, patienceMillis)));
    state.hooks().run(state.name(), steps);
    state.contexts().forEach(state::forget);
  }

  /** Step 5: the GIDs go and the provider is released. */
  public void release() {
    synchronized (this) {
      if (released) {
        return;
      }
      released = true;
    }
    List<ProviderHooks.Step> steps = new ArrayList<>(state.gidRemovals());
    Runnable hook = () -> provider.tracedRun("dealloc_driver", state.name(), provider::release);
    steps.add(new ProviderHooks.Step("release of", state.name(), hook, () -> { }));
    state.hooks().run(state.name(), steps);
  }

  /**
   * The device for a bundle, with contexts of its own.
   *
   * @param bundle the bundle's symbolic name
   * @return the device
   */
  public RdmaDevice view(String bundle) {
    return new DeviceView(state, bundle);
  }

  /**
   * Closes the contexts that were opened through a view.
   *
   * @param view what {@link #view} gave
   */
  public void close(RdmaDevice view) {
    state.contexts().stream().filter(each -> each.device() == view).forEach(Context::close);
  }

  /**
   * Tells what was opened and made through a view and is still there, and where. What a device that is gone has left is
   * nobody's fault and not told.
   *
   * @param view what {@link #view} gave, or the device of what {@link #openClient} gave
   * @param evenEmpty whether contexts without objects count
   * @return one line for each context that is still open, none where all was closed
   */
  public List<String> leftOpen(RdmaDevice view, boolean evenEmpty) {
    if (state.gate().isClosed()) {
      return List.of();
    }
    return state.contexts().stream()
        .filter(each -> each.device() == view && !each.isClosed() && (evenEmpty || each.hasObjects()))
        .map(Context::leftOpen)
        .toList();
  }

  /**
   * Says whether objects remember who made them, which {@link #leftOpen} tells; they do unless this says no.
   *
   * @param noted false to save the walk along the stack for objects made from now on
   */
  public void noteCreationSites(boolean noted) {
    state.noteSites(noted);
  }

  /**
   * Opens the device for a kernel style client.
   *
   * @param bundle the symbolic name of its bundle
   * @param clientName its name in resource tracking
   * @return the context
   * @throws VerbsException ENODEV where the device takes no new users
   */
  public Context openClient(String bundle, String clientName) {
    return state.open(new DeviceView(state, bundle), bundle, clientName, true);
  }

  /** {@return the name} */
  public String name() {
    return state.name();
  }

  /** {@return what the device is a device of, or null} */
  public String parent() {
    return provider.parentDevice();
  }

  /** {@return what the device is and can do} */
  public DeviceAttributes attributes() {
    return state.attributes();
  }

  /** {@return how many ports there are} */
  public int portCount() {
    return state.attributes().portCount();
  }

  /**
   * The types of GIDs that the core manages.
   *
   * @param port from 1
   * @return the types, none on a port that is not RoCE
   */
  public List<GidType> gidTypes(int port) {
    return state.gids(port).defaultTypes();
  }

  /**
   * The GIDs of a port.
   *
   * @param port from 1
   * @return the entries by index
   */
  public List<GidEntry> gidEntries(int port) {
    return state.gids(port).entries();
  }

  /**
   * Tells whether a slot is kept for default GIDs.
   *
   * @param entry an entry
   * @return true where it is in such a slot
   */
  public boolean isDefault(GidEntry entry) {
    return entry.index() < gidTypes(entry.port()).size();
  }

  /**
   * The network interface of a port.
   *
   * @param port from 1
   * @return its name, or null
   */
  public String netdev(int port) {
    return DeviceState.guarded(() -> state.provider().portNetdev(port), "netdev of " + state.name());
  }

  /**
   * The only GID that a port shall have.
   *
   * @param port from 1
   * @return the GID, or null for all of the interface
   */
  public Gid addressFilter(int port) {
    return DeviceState.guarded(() -> state.provider().portAddressFilter(port), "address of " + state.name());
  }

  /**
   * Tells the provider about its interface.
   *
   * @param port from 1
   * @param event what happened
   * @param netdev the interface as it is now
   */
  public void netdevEvent(int port, NetdevEvent event, Netdev netdev) {
    DeviceState.guarded(
        () -> {
          state.provider().netdevEvent(port, event, netdev);
          return null;
        },
        "netdev event of " + state.name());
  }

  /**
   * Adds a GID and raises GID_CHANGE.
   *
   * @param port from 1
   * @param gid the GID
   * @param type its type
   * @param netdev the interface
   * @param isDefault true for the default GID
   * @return false where it is there already
   * @throws VerbsException EINVAL, ENOSPC, and what the provider says; the slot stays free
   */
  public boolean addGid(int port, Gid gid, GidType type, String netdev, boolean isDefault) {
    boolean added =
        DeviceState.guarded(
            () -> state.gids(port).add(gid, type, netdev, isDefault) != null, "add_gid of " + state.name());
    if (added) {
      state.raise(AsyncEventType.GID_CHANGE, port);
    }
    return added;
  }

  /**
   * Removes a GID and raises GID_CHANGE.
   *
   * @param port from 1
   * @param gid the GID
   * @param type its type
   * @param netdev the interface
   * @param isDefault true for the default GID
   * @return false where there is no such
   */
  public boolean removeGid(int port, Gid gid, GidType type, String netdev, boolean isDefault) {
    boolean removed =
        DeviceState.guarded(
            () -> state.gids(port).remove(gid, type, netdev, isDefault) != null, "del_gid of " + state.name());
    if (removed) {
      state.raise(AsyncEventType.GID_CHANGE, port);
    }
    return removed;
  }

  DeviceState state() {
    return state;
  }
}
