package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the core keeps of a registered device: its attributes, caches, objects, contexts, and whether calls may enter.
 */
final class DeviceState {
  /** How long a forced end waits for a call that has not returned. */
  static final long PATIENCE_MILLIS = 5_000;

  private static final int FIRST_MULTICAST_LID = 0xc000;
  private static final int LAST_MULTICAST_LID = 0xfffe;
  private static final Logger LOG = LoggerFactory.getLogger(DeviceState.class);

  private final IbDevice provider;
  private final CallGate gate = new CallGate();
  private final ProviderHooks hooks = new ProviderHooks();
  private final ResourceTracker tracker = new ResourceTracker();
  private final XrcRegistry xrcDomains;
  private final ManagementQueuePairs managementQps = new ManagementQueuePairs();
  private final AtomicLong sequence = new AtomicLong();
  private final Set<Context> contexts = new LinkedHashSet<>();
  private final List<GidCache> gids = new CopyOnWriteArrayList<>();
  private final List<PkeyCache> pkeys = new CopyOnWriteArrayList<>();
  private final List<PortImmutable> immutables = new ArrayList<>();
  private volatile DeviceAttributes attributes;
  private volatile String name;
  private volatile String driver;
  private volatile int index;
  private volatile boolean accepting;
  private volatile boolean sitesNoted = true;

  DeviceState(IbDevice provider) {
    this.provider = provider;
    this.xrcDomains = new XrcRegistry(provider);
  }

  /**
   * Validates the device and fills everything but the GID tables ({@code setup_device}, {@code ib_cache_setup_one}).
   */
  void load(String newName, int newIndex) {
    this.name = newName;
    this.index = newIndex;
    this.driver = guarded(provider::linkType, "link type of " + newName);
    this.attributes = required(guarded(provider::queryDevice, "query_device of " + newName), "query_device");
    if (driver == null || attributes.portCount() < 1 || attributes.completionVectors() < 1) {
      throw new VerbsException(
          Errno.EINVAL,
          newName + " has driver " + driver + ", " + attributes.portCount() + " ports and "
              + attributes.completionVectors() + " completion vectors; all must be there");
    }
    for (int port = 1; port <= attributes.portCount(); port++) {
      loadPort(port);
    }
  }

  private void loadPort(int port) {
    String label = name + "/" + port;
    PortImmutable immutable =
        required(guarded(() -> provider.portImmutable(port), "get_port_immutable of " + label), "get_port_immutable");
    boolean mad = immutable.capabilities().contains(PortCoreCapability.MAD);
    if (mad ? immutable.maxMadSize() < 256 : immutable.maxMadSize() != 0) {
      throw new VerbsException(
          Errno.EINVAL,
          label + " has max_mad_size " + immutable.maxMadSize() + "; it must be "
              + (mad ? "256 or more" : "0 without MAD"));
    }
    required(guarded(() -> provider.queryPort(port), "query_port of " + label), "query_port");
    if (immutable.gidTableLength() < (immutable.isRoce() ? 2 : 0) || immutable.pkeyTableLength() < 0) {
      throw new VerbsException(
          Errno.EINVAL,
          label + " has gid_tbl_len " + immutable.gidTableLength() + " and pkey_tbl_len "
              + immutable.pkeyTableLength());
    }
    immutables.add(immutable);
    List<GidType> defaults = new ArrayList<>();
    if (immutable.capabilities().contains(PortCoreCapability.PROT_ROCE)) {
      defaults.add(GidType.ROCE_V1);
    }
    if (immutable.capabilities().contains(PortCoreCapability.PROT_ROCE_UDP_ENCAP)) {
      defaults.add(GidType.ROCE_V2);
    }
    gids.add(new GidCache(provider, port, immutable.gidTableLength(), List.copyOf(defaults)));
    pkeys.add(readPkeys(port, immutable));
  }

  private PkeyCache readPkeys(int port, PortImmutable immutable) {
    int[] table = new int[immutable.pkeyTableLength()];
    for (int i = 0; i < table.length; i++) {
      int slot = i;
      table[i] = guarded(() -> provider.queryPkey(port, slot), "query_pkey of " + name + "/" + port) & 0xffff;
    }
    return new PkeyCache(name + "/" + port, table);
  }

  void noteSites(boolean noted) {
    sitesNoted = noted;
  }

  /** Who is making something now, or null where that is not noted. */
  CreationSite creationSite() {
    return sitesNoted ? CreationSite.find() : null;
  }

  IbDevice provider() {
    return provider;
  }

  CallGate gate() {
    return gate;
  }

  ProviderHooks hooks() {
    return hooks;
  }

  XrcRegistry xrcDomains() {
    return xrcDomains;
  }

  ResourceTracker tracker() {
    return tracker;
  }

  DeviceAttributes attributes() {
    return attributes;
  }

  String name() {
    return name;
  }

  String driver() {
    return driver;
  }

  int index() {
    return index;
  }

  long nextSequence() {
    return sequence.getAndIncrement();
  }

  GidCache gids(int port) {
    checkPort(port);
    return gids.get(port - 1);
  }

  /** The end of the GID tables; no events any more. */
  List<ProviderHooks.Step> gidRemovals() {
    List<ProviderHooks.Step> steps = new ArrayList<>();
    for (GidCache table : gids) {
      for (GidEntry entry : table.entries().reversed()) {
        steps.add(new ProviderHooks.Step("removal from " + name + " of", entry, () -> table.remove(entry), () -> { }));
      }
    }
    return steps;
  }

  PkeyCache pkeys(int port) {
    checkPort(port);
    return pkeys.get(port - 1);
  }

  PortImmutable immutable(int port) {
    checkPort(port);
    return immutables.get(port - 1);
  }

  void checkPort(int port) {
    if (port < 1 || port > attributes.portCount()) {
      throw new VerbsException(
          Errno.EINVAL, "port " + port + " of " + name + " is not between 1 and " + attributes.portCount());
    }
  }

  /** {@code verbs.c:is_valid_mcast_lid}: where a port that may be meant is Ethernet, any LID is right. */
  void checkMulticastLid(int lid, int port, Object who) {
    boolean ethernet = false;
    for (int each = 1; each <= attributes.portCount(); each++) {
      ethernet |= (port == 0 || port == each) && portInside(each).linkLayer() == LinkLayer.ETHERNET;
    }
    if (!ethernet && (lid < FIRST_MULTICAST_LID || lid > LAST_MULTICAST_LID)) {
      throw new VerbsException(
          Errno.EINVAL, "LID " + lid + " of a multicast group for " + who + " is not between 0xc000 and 0xfffe");
    }
  }

  /** Queries a port as a call on the device. */
  PortAttributes queryPort(int port) {
    checkPort(port);
    return query(() -> provider.queryPort(port), "query_port");
  }

  /** Queries a port from inside a call that has entered the device. */
  PortAttributes portInside(int port) {
    checkPort(port);
    return required(guarded(() -> provider.queryPort(port), "query_port of " + name), "query_port");
  }

  <T> T query(Supplier<T> hook, String what) {
    if (!gate.tryEnter()) {
      throw gone();
    }
    try {
      return required(provider.traced(what, name, () -> guarded(hook, what + " of " + name)), what);
    } finally {
      gate.exit();
    }
  }

  ManagementQueuePairs managementQps() {
    return managementQps;
  }

  /** Takes hold of the source GID of an address vector after checking it ({@code rdma_check_ah_attr}). */
  GidCache.Hold holdSource(AhAttributes av, String who) {
    if (av == null) {
      throw new VerbsException(Errno.EINVAL, "the address vector of " + who + " is null");
    }
    checkPort(av.port());
    if (!av.isGlobal()) {
      throw new VerbsException(
          Errno.EINVAL,
          "the address vector of " + who + " needs a destination GID on port " + av.port() + " of " + name);
    }
    checkField(av.flowLabel(), 0xfffff, "flow_label", who);
    checkField(av.trafficClass(), 0xff, "traffic_class", who);
    checkField(av.hopLimit(), 0xff, "hop_limit", who);
    checkField(av.serviceLevel(), 0xf, "sl", who);
    return gids(av.port()).hold(av.sgidIndex(), who);
  }

  private static void checkField(int value, int max, String field, String who) {
    if (value < 0 || value > max) {
      throw new VerbsException(Errno.EINVAL, field + " " + value + " for " + who + " is not between 0 and " + max);
    }
  }

  /** From now on, or no longer, objects and contexts can be made. */
  void accept(boolean now) {
    synchronized (contexts) {
      accepting = now;
    }
  }

  boolean isAccepting() {
    return accepting;
  }

  /** The interface of a port as a call on the device. */
  String netdev(int port) {
    checkPort(port);
    if (!gate.tryEnter()) {
      throw gone();
    }
    try {
      return guarded(() -> provider.portNetdev(port), "get_netdev of " + name);
    } finally {
      gate.exit();
    }
  }

  Context open(RdmaDevice device, String bundle, String comm, boolean kernel) {
    synchronized (contexts) {
      if (!accepting) {
        throw gone();
      }
      Context context = new Context(this, device, bundle, comm, kernel);
      contexts.add(context);
      return context;
    }
  }

  void forget(Context context) {
    synchronized (contexts) {
      contexts.remove(context);
    }
    if (!context.isKernel()) {
      tracker.removeContext(context.id());
    }
  }

  List<Context> contexts() {
    synchronized (contexts) {
      return List.copyOf(contexts);
    }
  }

  /** Makes an object: begin, then commit or abort ({@code rdma_core.c}). */
  <T extends VerbsObject> T create(ObjectContext owner, Class<T> type, Supplier<T> hook) {
    Context context = owner.context();
    enter(context::toString);
    try {
      if (!accepting && !isGoodbye(owner)) {
        throw gone();
      }
      if (!context.makers().tryEnter()) {
        throw new VerbsException(Errno.EINVAL, context + " is closed");
      }
      try {
        return provider.traced(owner.kind().making(), owner, () -> createInside(owner, type, hook));
      } finally {
        context.makers().exit();
      }
    } finally {
      gate.exit();
    }
  }

  /** Clients in the kernel's style may say goodbye while they are being removed, for which they need the way. */
  private static boolean isGoodbye(ObjectContext owner) {
    return owner.context().isKernel() && owner.kind() == ObjectKind.ADDRESS_HANDLE;
  }

  private <T extends VerbsObject> T createInside(ObjectContext owner, Class<T> type, Supplier<T> hook) {
    tracker.reserve(owner.kind(), attributes, name);
    boolean pinned = false;
    boolean made = false;
    try {
      owner.pinParents();
      pinned = true;
      T object = guarded(hook, owner.kind().label() + " of " + name);
      if (object == null || owner.object() != object || !type.isInstance(object)) {
        throw new VerbsException(
            Errno.EIO, "the provider of " + name + " made " + object + " in place of " + owner.label());
      }
      tracker.add(object);
      made = true;
      return object;
    } finally {
      if (!made) {
        tracker.cancel(owner.kind());
        if (pinned) {
          owner.unpinParents();
        }
      }
    }
  }

  /** Enters the device, or fails with EIO. */
  void enter(Supplier<String> what) {
    if (!gate.tryEnter()) {
      throw removed(what.get());
    }
  }

  VerbsException removed(String what) {
    return new VerbsException(Errno.EIO, what + ": the device was removed");
  }

  VerbsException gone() {
    return new VerbsException(Errno.ENODEV, "no such device: " + name + " is gone or going");
  }

  /** An event of a port or of the device: caches first, then every context ({@code ib_dispatch_event}). */
  void raise(AsyncEventType type, int port) {
    if (type == AsyncEventType.PKEY_CHANGE) {
      try {
        pkeys.set(port - 1, readPkeys(port, immutable(port)));
      } catch (VerbsException e) {
        LOG.warn("the P_Keys of {}/{} cannot be read", name, port, e);
      }
    }
    contexts().forEach(each -> each.raise(type, null, port));
  }

  /** Runs a provider's hook; what is no {@link VerbsException} becomes EIO, and ENOMEM where memory is out. */
  static <T> T guarded(Supplier<T> hook, Object what) {
    try {
      return hook.get();
    } catch (VerbsException e) {
      throw e;
    } catch (OutOfMemoryError e) {
      throw new VerbsException(Errno.ENOMEM, what + ": no memory: " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      throw new VerbsException(Errno.EIO, what + ": the provider failed: " + e, e);
    }
  }

  private <T> T required(T value, String operation) {
    if (value == null) {
      throw new VerbsException(Errno.EINVAL, operation + " of " + name + " answers null");
    }
    return value;
  }
}
