package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.NetdevEvent;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.SrqType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.EngineConfig;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.EngineRunner;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounter;
import org.rdma4j.roce.link.Route;
import org.rdma4j.rxe.ring.CompletionRing;
import org.rdma4j.rxe.ring.ReceiveRing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A software RoCEv2 device (kernel: {@code struct rxe_dev}): one port, one link, one engine with its thread. Made
 * before its registration, with its addresses taken, so that what cannot work fails before anybody sees a device.
 */
final class RxeDevice extends IbDevice {
  private static final Logger LOG = LoggerFactory.getLogger(RxeDevice.class);

  private final RxeSettings settings;
  private final Consumer<RxeDevice> whenReleased;
  private final Runnable whenNetdevGone;
  private final Guid guid;
  private final Link link;
  private final RxeCapture capture;
  private final Engine engine;
  private final EngineRunner runner;
  private final PortAddresses addresses;
  private final PortMulticast multicast;
  private final RxeKeyTable keys = new RxeKeyTable();
  private final PagedTable<RxeAddressHandle.Entry> handles = new PagedTable<>(Limits.LAST_AH + 1);
  private final NumberPool pds = new NumberPool("max_pd", 1, Limits.MAX_PD);
  private final NumberPool cqs = new NumberPool("max_cq", 1, Limits.MAX_CQ);
  private final NumberPool qps = new NumberPool("max_qp", Limits.FIRST_QP, Limits.LAST_INDEX);
  private final NumberPool gsiQps = new NumberPool("one GSI queue pair a port", Limits.GSI_QP, Limits.GSI_QP);
  private final NumberPool srqs = new NumberPool("max_srq", Limits.FIRST_SRQ, Limits.LAST_INDEX - 1);
  private final NumberPool xrcds = new NumberPool("max_xrcd", 1, Limits.MAX_XRCD);
  private final PagedTable<RxeSharedReceiveQueue> xrcQueues = new PagedTable<>(Limits.LAST_INDEX);
  private final NumberPool ahs = new NumberPool("max_ah", 1, Limits.LAST_AH);
  private final AtomicLong completionsLost = new AtomicLong();
  private volatile boolean active;
  private volatile PathMtu mtu;
  private volatile PortPkeys pkeys;
  private volatile boolean hasGid;
  private boolean released;
  private int repliesHeld; // engine's thread

  /**
   * Takes link and addresses and starts the engine.
   *
   * @param settings what it is made of; the name and interface have been checked
   * @param netdev the interface
   * @param link the link, closed by the device
   * @param whenReleased told when the device has been released; must not block
   * @param whenNetdevGone told when the interface vanishes; must not block
   */
  RxeDevice(
      RxeSettings settings,
      Netdev netdev,
      CapturingLink link,
      Consumer<RxeDevice> whenReleased,
      Runnable whenNetdevGone) {
    super(settings.name());
    this.settings = settings;
    this.whenReleased = whenReleased;
    this.whenNetdevGone = whenNetdevGone;
    this.guid = RxeAttributes.guid(settings, netdev);
    this.link = link;
    this.capture = new RxeCapture(settings.name(), link);
    this.active = netdev.up();
    this.mtu = PathMtu.largestFor(netdev.mtu());
    this.engine = new Engine(EngineConfig.ofPortMtu(mtu.bytes()), Clock.SYSTEM, link, keys, this::report);
    this.pkeys = settings.pkeys();
    engine.setPkeys(pkeys.toArray());
    this.addresses = new PortAddresses(engine);
    this.multicast = new PortMulticast(engine);
    reserveAddresses();
    this.runner = new EngineRunner(engine, "rxe-" + settings.name(), Clock.SYSTEM, settings.idle());
  }

  /** The port of every address must be free; an address that is not usable yet may become so later. */
  private void reserveAddresses() {
    if (settings.address() != null) {
      addresses.reserve(settings.address());
      return;
    }
    for (Gid gid : PortNetdev.addresses(settings.netdev())) {
      try {
        addresses.reserve(gid);
      } catch (VerbsException e) {
        if (e.errno() == Errno.EADDRINUSE) {
          throw e;
        }
        LOG.debug("{}: address {} is not usable now", settings.name(), gid, e);
      }
    }
  }

  private void report(String where, Throwable cause) {
    LOG.error("{}: unexpected failure of the engine in {}", name(), where, cause);
  }

  RxeSettings settings() {
    return settings;
  }

  RxeCapture capture() {
    return capture;
  }

  Engine engine() {
    return engine;
  }

  /** A user polls without end: he drives the engine meanwhile; whether there was something to do. */
  boolean help(long now) {
    return runner.help(now);
  }

  /** The user who has helped is about to sleep. */
  void recall() {
    runner.recall();
  }

  PortMulticast multicast() {
    return multicast;
  }

  RxeKeyTable keys() {
    return keys;
  }

  /** What a number of an address handle stands for, or null; any number. */
  RxeAddressHandle.Entry ah(int number) {
    return handles.get(number);
  }

  void completionLost() {
    completionsLost.incrementAndGet();
  }

  /** Completions that found no room in their queue. */
  long completionsLost() {
    return completionsLost.get();
  }

  /**
   * A queue pair accepts more or fewer READs and atomics at a time. Engine thread.
   *
   * @throws VerbsException ENOMEM where all queue pairs together would accept more than {@code max_res_rd_atom}
   */
  void holdReplies(int more, RxeQueuePair qp) {
    if (more > Limits.MAX_RES_RD_ATOMIC - repliesHeld) {
      throw new VerbsException(
          Errno.ENOMEM,
          more + " more for max_dest_rd_atomic of " + qp + ": " + name() + " holds " + repliesHeld
              + " already, max_res_rd_atom is " + Limits.MAX_RES_RD_ATOMIC);
    }
    repliesHeld += more;
  }

  void releaseQp(int number) {
    (number == Limits.GSI_QP ? gsiQps : qps).give(number);
  }

  void releaseCq(int number) {
    cqs.give(number);
  }

  /** A shared queue of an XRC domain, or null; any number. */
  RxeSharedReceiveQueue xrcQueue(int number) {
    return xrcQueues.get(number);
  }

  void forgetXrcQueue(int number) {
    xrcQueues.put(number, null);
  }

  void releaseSrq(int number) {
    srqs.give(number);
  }

  void releaseAh(int number) {
    ahs.give(number);
  }

  /** Engine thread. */
  Route route(AhAttributes av) {
    return addresses.route(
        av.sourceGid().gid(), av.destinationGid(), av.trafficClass(), av.flowLabel(), av.hopLimit());
  }

  @Override
  protected String linkType() {
    return "rxe";
  }

  @Override
  protected DeviceAttributes queryDevice() {
    return RxeAttributes.device(guid, Runtime.getRuntime().availableProcessors());
  }

  @Override
  protected PortAttributes queryPort(int port) {
    return RxeAttributes.port(settings.netdev(), active, mtu, pkeys.size(), engine.counters());
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    return new PortImmutable(Limits.GID_TABLE_LENGTH, pkeys.size(), PortCoreCapability.roceV2(), Limits.MAD_SIZE);
  }

  @Override
  protected int queryPkey(int port, int index) {
    return pkeys.get(index);
  }

  /** Other P_Keys, as many as before; queue pairs go on with what is now at their index. */
  void changePkeys(PortPkeys table) {
    engine.run(
        () -> {
          pkeys = table;
          engine.setPkeys(table.toArray());
        });
    portEvent(1, AsyncEventType.PKEY_CHANGE);
  }

  @Override
  protected String portNetdev(int port) {
    return settings.netdev();
  }

  @Override
  protected Gid portAddressFilter(int port) {
    return settings.address();
  }

  @Override
  protected void addGid(GidEntry entry) {
    addresses.add(entry.gid());
    hasGid = true;
  }

  @Override
  protected void removeGid(GidEntry entry) {
    addresses.remove(entry.gid());
  }

  @Override
  protected SortedMap<Integer, String> vendorErrors() {
    SortedMap<Integer, String> texts = new TreeMap<>();
    for (FailedCheck each : FailedCheck.values()) {
      texts.put(each.code(), each.text());
    }
    return texts;
  }

  @Override
  protected CounterSet hwCounters(int port) {
    return RxeAttributes.counters(engine.counters(), link.counters().get(LinkCounter.SEND_ERRORS));
  }

  @Override
  protected void enable() {
    if (settings.address() != null && !hasGid) {
      throw new VerbsException(
          Errno.EADDRNOTAVAIL,
          settings.address() + " is no address of " + settings.netdev() + "; it has "
              + PortNetdev.addresses(settings.netdev()));
    }
    portEvent(1, active ? AsyncEventType.PORT_ACTIVE : AsyncEventType.PORT_ERR);
  }

  @Override
  protected void netdevEvent(int port, NetdevEvent event, Netdev netdev) {
    switch (event) {
      case UP -> setActive(true);
      case DOWN -> setActive(false);
      case CHANGE_MTU -> mtu = PathMtu.largestFor(netdev.mtu());
      case UNREGISTER -> whenNetdevGone.run();
      case CHANGE_ADDRESS -> LOG.debug("{}: the address of {} changed; the node GUID stays", name(), netdev.name());
    }
  }

  private void setActive(boolean up) {
    active = up;
    if (!up) {
      engine.run(() -> engine.counters().increment(EngineCounter.LINK_DOWNED));
    }
    portEvent(1, up ? AsyncEventType.PORT_ACTIVE : AsyncEventType.PORT_ERR);
  }

  /**
   * Ends the thread, then closes the link, whose memory the thread may be using for as long as it runs. Idempotent.
   */
  @Override
  protected void release() {
    synchronized (this) {
      if (released) {
        return;
      }
      released = true;
    }
    try {
      runner.close();
      link.close();
    } catch (IllegalStateException e) {
      LOG.error("{}: the engine does not stop, its thread and its link are left behind", name(), e);
    } finally {
      whenReleased.accept(this);
    }
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    return numbered(pds, number -> new RxeProtectionDomain(owner, pds, number));
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    CompletionRing ring = new CompletionRing(attributes.entries());
    return numbered(cqs, number -> new RxeCompletionQueue(owner, this, number, ring));
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    QpKind kind = RxeQueuePair.kind(attributes.type());
    QpRings rings =
        switch (kind) {
          case XRC_TGT -> QpRings.none();
          case XRC_INI -> QpRings.allocate(attributes.capabilities(), true);
          default -> QpRings.allocate(attributes.capabilities(), attributes.srq() != null);
        };
    NumberPool pool = attributes.type() == QpType.GSI ? gsiQps : qps;
    return numbered(pool, number -> new RxeQueuePair(owner, this, number, rings));
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    SegmentMemory.checkRights(segment, access);
    int domain = domain(owner);
    return keyed(
        keys.newRegionKey(),
        key -> {
          SegmentMemory memory = new SegmentMemory(segment, iova, key, domain, access);
          RxeMemoryRegion region = new RxeMemoryRegion(owner, this, key, RegionMemory.remoteKey(key, access), memory);
          keys.put(key, memory);
          return region;
        });
  }

  @Override
  protected MemoryRegion allocateMr(ObjectContext owner, int maxPages) {
    int domain = domain(owner);
    return keyed(
        keys.newRegionKey(),
        key -> {
          FastMemory memory = new FastMemory(key, domain);
          RxeMemoryRegion region = new RxeMemoryRegion(owner, this, key, key, memory);
          keys.put(key, memory);
          return region;
        });
  }

  @Override
  protected MemoryWindow allocateMw(ObjectContext owner, MwType type) {
    int domain = domain(owner);
    return keyed(
        keys.newWindowKey(),
        key -> {
          WindowMemory memory = new WindowMemory(key, domain, type);
          RxeMemoryWindow window = new RxeMemoryWindow(owner, this, type, memory);
          keys.put(key, memory);
          return window;
        });
  }

  private static int domain(ObjectContext owner) {
    return ((RxeProtectionDomain) owner.protectionDomain()).number();
  }

  /** Makes an object with a key that goes back when it cannot be made. */
  private <T> T keyed(int key, IntFunction<T> maker) {
    boolean made = false;
    try {
      T object = maker.apply(key);
      made = true;
      return object;
    } finally {
      if (!made) {
        keys.release(key);
      }
    }
  }

  @Override
  protected SharedReceiveQueue createSrq(ObjectContext owner, SrqInitAttributes attributes) {
    if (attributes.type() == SrqType.TM) {
      throw new VerbsException(Errno.EOPNOTSUPP, "shared receive queues of type " + attributes.type());
    }
    ReceiveRing ring = new ReceiveRing(attributes.maxWr(), attributes.maxSge());
    return numbered(
        srqs,
        number -> {
          RxeSharedReceiveQueue queue =
              new RxeSharedReceiveQueue(owner, this, number, ring, domain(owner), attributes);
          if (attributes.type() == SrqType.XRC) {
            xrcQueues.put(number, queue);
          }
          return queue;
        });
  }

  @Override
  protected int allocateXrcd() {
    return xrcds.take();
  }

  @Override
  protected void releaseXrcd(int number) {
    xrcds.give(number);
  }

  @Override
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    int domain = domain(owner);
    Route route = engine.call(() -> route(attributes));
    return numbered(
        ahs,
        number -> {
          RxeAddressHandle handle = new RxeAddressHandle(owner, this, number);
          handles.put(number, new RxeAddressHandle.Entry(domain, route));
          return handle;
        });
  }

  /** Makes an object with a number that goes back when it cannot be made. */
  private static <T> T numbered(NumberPool pool, IntFunction<T> maker) {
    int number = pool.take();
    boolean made = false;
    try {
      T object = maker.apply(number);
      made = true;
      return object;
    } finally {
      if (!made) {
        pool.give(number);
      }
    }
  }
}
