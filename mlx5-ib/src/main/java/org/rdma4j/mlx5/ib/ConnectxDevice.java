package org.rdma4j.mlx5.ib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
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
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.SrqType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5EventListener;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.NicVportCommands;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.QueueCounterCommands;
import org.rdma4j.mlx5.core.RoceAddressCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.mlx5.ifc.VendorSyndromes;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The verbs device of a card (kernel: {@code struct mlx5_ib_dev}, {@code main.c}). */
final class ConnectxDevice extends IbDevice {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectxDevice.class);
  private static final int PORT = 1;
  private static final int NO_VLAN = -1;
  private static final int MAD_BYTES = 256;
  private static final int PKEY_MASK = 0xffff;
  private static final int MAC_BYTES = 6;
  private static final int PORT_DOWN = 1;
  private static final int PORT_ACTIVE = 4;
  private static final int PORT_PKEY = 7;

  private final Mlx5Device core;
  private final Consumer<ConnectxDevice> whenReleased;
  private final MacAddress mac;
  private final PortAddress address;
  private final NumberTable<IbQueuePair> queuePairs = new NumberTable<>();
  private final NumberTable<IbSharedReceiveQueue> sharedQueues = new NumberTable<>();
  private final NumberTable<IbMemoryRegion> regions = new NumberTable<>();
  private final NumberTable<IbFastRegion> fastRegions = new NumberTable<>();
  private final RegionKeys keys = new RegionKeys(this);
  private final AtomicBoolean released = new AtomicBoolean();
  private final AtomicBoolean fatal = new AtomicBoolean();
  private final Events events = new Events();
  private final DriverResources resources;
  private final int counterSet;
  private final BlueFlameRegister register;
  private final SharedDoorbell sharedDoorbell;

  /**
   * Prepares the card; nothing is left when this throws.
   *
   * @param core the card
   * @param whenReleased told when the device has been released; must not block
   */
  ConnectxDevice(Mlx5Device core, Consumer<ConnectxDevice> whenReleased) {
    super("mlx5_%d");
    this.core = core;
    this.whenReleased = whenReleased;
    Structure vport = NicVportCommands.query(core);
    this.mac =
        new MacAddress(
            (long) vport.get("permanent_address.mac_addr_47_32") << Integer.SIZE
                | vport.get("permanent_address.mac_addr_31_0") & 0xffff_ffffL);
    this.address = PortAddress.of(mac);
    NicVportCommands.roce(core, true);
    DriverResources own = null;
    int set = -1;
    BlueFlameRegister register = null;
    try {
      own = DriverResources.create(this);
      set = QueueCounterCommands.allocate(core);
      register = core.allocateBlueFlame(false);
    } finally {
      if (register == null) {
        giveBack(own, set);
      }
    }
    this.resources = own;
    this.counterSet = set;
    this.register = register;
    this.sharedDoorbell = new SharedDoorbell(register);
  }

  /** The last first. */
  private void giveBack(DriverResources own, int set) {
    if (set >= 0) {
      giveBack("counters", () -> QueueCounterCommands.free(core, set));
    }
    if (own != null) {
      own.close();
    }
    giveBack("RoCE", () -> NicVportCommands.roce(core, false));
  }

  Mlx5Device core() {
    return core;
  }

  boolean isWatched() {
    return isTraced();
  }

  /** Who sees verbs now, or null. */
  VerbsTracer watcher() {
    return tracer();
  }

  VerbsTracer.Source traced() {
    return source();
  }

  boolean isUp() {
    return core.state() == DeviceState.UP;
  }

  NumberTable<IbQueuePair> queuePairs() {
    return queuePairs;
  }

  IbQueuePair queuePair(int number) {
    return queuePairs.get(number);
  }

  NumberTable<IbSharedReceiveQueue> sharedQueues() {
    return sharedQueues;
  }

  NumberTable<IbMemoryRegion> regions() {
    return regions;
  }

  /** Objects for contexts that must name one. */
  DriverResources resources() {
    return resources;
  }

  /** The send doorbell of queue pairs that have none of their own. */
  SharedDoorbell sharedDoorbell() {
    return sharedDoorbell;
  }

  /** Keys for regions. */
  RegionKeys keys() {
    return keys;
  }

  /** The device is registered: what follows on it (kernel: stage POST_IB_REG_UMR). */
  void registered() {
    keys.open();
  }

  NumberTable<IbFastRegion> fastRegions() {
    return fastRegions;
  }

  /** The region for fast registration that a key is of, whatever its lowest eight bits; or null. */
  IbFastRegion fastRegion(int key) {
    return fastRegions.get(key >>> Byte.SIZE);
  }

  int counterSet() {
    return counterSet;
  }

  int logMaxMessage() {
    return core.capabilities().general("log_max_msg");
  }

  /** The UDP source port of a flow ({@code rdma_flow_label_to_udp_sport}). */
  int sourcePort(int flowLabel) {
    int least = core.capabilities().get(CapabilityType.ROCE, "r_roce_min_src_udp_port");
    return flowLabel == 0 ? least : (flowLabel & 0x3fff ^ (flowLabel & 0xf_c000) >>> 14) | 0xc000;
  }

  /** Gives something back to a card that may be gone. */
  void giveBack(String what, Runnable command) {
    try {
      command.run();
    } catch (Mlx5Exception e) {
      refused("giving back the " + what, e);
    }
  }

  /** A card that is well refuses nothing of this; one that is not has nothing left. */
  void refused(String what, Mlx5Exception e) {
    if (isUp()) {
      LOG.warn("{}: {} failed: {}", name(), what, e.getMessage());
    } else {
      LOG.debug("{}: {} failed, the card is not up: {}", name(), what, e.getMessage());
    }
  }

  @Override
  protected String linkType() {
    return "mlx5";
  }

  @Override
  protected String parentDevice() {
    return core.name();
  }

  @Override
  protected DeviceAttributes queryDevice() {
    return Errors.translated(() -> DeviceValues.device(core));
  }

  @Override
  protected PortAttributes queryPort(int port) {
    return Errors.translated(() -> DeviceValues.port(core));
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    return new PortImmutable(
        core.capabilities().get(CapabilityType.ROCE, "roce_address_table_size"),
        1,
        PortCoreCapability.roceV2(),
        MAD_BYTES);
  }

  @Override
  protected int queryPkey(int port, int index) {
    CommandRequest request =
        CommandRequest.of(Opcode.QUERY_HCA_VPORT_PKEY).set("pkey_index", index).answerList(Long.BYTES);
    return Errors.translated(() -> (int) (core.execute(request).list(0) >>> Integer.SIZE) & PKEY_MASK);
  }

  @Override
  protected String portNetdev(int port) {
    return address.netdev();
  }

  @Override
  protected Gid portAddressFilter(int port) {
    return address.only();
  }

  @Override
  protected void addGid(GidEntry entry) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment gid = arena.allocate(16);
      entry.gid().writeTo(gid, 0);
      MemorySegment bytes = arena.allocate(Long.BYTES);
      bytes.set(BigEndian.LONG, 0, mac.value());
      Errors.translatedRun(
          () ->
              RoceAddressCommands.set(
                  core,
                  entry.index(),
                  RoceAddressCommands.ROCE_V2,
                  !entry.gid().isIpv4Mapped(),
                  gid,
                  bytes.asSlice(Long.BYTES - MAC_BYTES),
                  NO_VLAN));
    }
  }

  @Override
  protected void removeGid(GidEntry entry) {
    giveBack(
        "address " + entry.gid(), () -> RoceAddressCommands.clear(core, entry.index(), RoceAddressCommands.ROCE_V2));
  }

  @Override
  protected CounterSet hwCounters(int port) {
    return PortCounters.read(this);
  }

  /** A real card's numbers are its vendor's. */
  @Override
  protected SortedMap<Integer, String> vendorErrors() {
    return VendorSyndromes.BOARD_ID.equals(core.boardId()) ? VendorSyndromes.texts() : super.vendorErrors();
  }

  @Override
  protected void enable() {
    if (address.netdev() == null) {
      LOG.warn("{}: no network interface has the MAC address {} of {}; it gets no GID", name(), mac, core.name());
    }
    core.addListener(events);
  }

  @Override
  protected void release() {
    if (released.compareAndSet(false, true)) {
      core.removeListener(events);
      keys.close();
      register.close();
      giveBack(resources, counterSet);
      whenReleased.accept(this);
    }
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    int number = Errors.translated(() -> ObjectCommands.allocatePd(core));
    boolean made = false;
    try {
      IbProtectionDomain domain = new IbProtectionDomain(owner, this, number);
      made = true;
      return domain;
    } finally {
      if (!made) {
        giveBack("protection domain", () -> ObjectCommands.freePd(core, number));
      }
    }
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    return IbCompletionQueue.create(owner, this, attributes);
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    return QpCreation.create(owner, this, attributes);
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    return IbMemoryRegion.register(owner, this, segment, iova, access);
  }

  @Override
  protected MemoryRegion allocateMr(ObjectContext owner, int maxPages) {
    return IbFastRegion.allocate(owner, this, maxPages);
  }

  @Override
  protected MemoryWindow allocateMw(ObjectContext owner, MwType type) {
    return IbMemoryWindow.allocate(owner, this, type);
  }

  @Override
  protected SharedReceiveQueue createSrq(ObjectContext owner, SrqInitAttributes attributes) {
    if (attributes.type() == SrqType.TM) {
      throw new VerbsException(Errno.EOPNOTSUPP, "shared receive queues of type " + attributes.type());
    }
    return IbSharedReceiveQueue.create(owner, this, attributes);
  }

  @Override
  protected int allocateXrcd() {
    return Errors.translated(() -> ObjectCommands.allocateXrcd(core));
  }

  @Override
  protected void releaseXrcd(int number) {
    giveBack("XRC domain", () -> ObjectCommands.freeXrcd(core, number));
  }

  @Override
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    return new IbAddressHandle(owner, this, attributes);
  }

  /** Events of the card in words of verbs ({@code main.c:mlx5_ib_handle_event}, {@code qp.c:mlx5_ib_qp_event}). */
  private final class Events implements Mlx5EventListener {
    @Override
    public void event(Event event) {
      switch (event.type()) {
        case COMMUNICATION_ESTABLISHED -> queuePair(event, AsyncEventType.COMM_EST);
        case SQ_DRAINED -> queuePair(event, AsyncEventType.SQ_DRAINED);
        case SRQ_LAST_WQE -> queuePair(event, AsyncEventType.QP_LAST_WQE_REACHED);
        case WQ_CATASTROPHIC_ERROR -> queuePair(event, AsyncEventType.QP_FATAL);
        case WQ_INVALID_REQUEST -> queuePair(event, AsyncEventType.QP_REQ_ERR);
        case WQ_ACCESS_ERROR -> queuePair(event, AsyncEventType.QP_ACCESS_ERR);
        case SRQ_LIMIT, SRQ_CATASTROPHIC_ERROR -> sharedQueue(event);
        case PORT_CHANGE -> port(event.subType());
        default -> LOG.debug("{}: {} is of no concern", name(), event);
      }
    }

    private void queuePair(Event event, AsyncEventType type) {
      IbQueuePair qp = queuePairs.get(event.number());
      if (qp != null) {
        qp.report(type);
      }
    }

    private void sharedQueue(Event event) {
      IbSharedReceiveQueue queue = sharedQueues.get(event.number());
      if (queue != null) {
        switch (event.type()) {
          case SRQ_LIMIT -> queue.limitReached();
          default -> queue.broken();
        }
      }
    }

    private void port(int subType) {
      switch (subType) {
        case PORT_DOWN -> portEvent(PORT, AsyncEventType.PORT_ERR);
        case PORT_ACTIVE -> portEvent(PORT, AsyncEventType.PORT_ACTIVE);
        case PORT_PKEY -> portEvent(PORT, AsyncEventType.PKEY_CHANGE);
        default -> LOG.debug("{}: change {} of the port is of no concern", name(), subType);
      }
    }

    @Override
    public void systemError() {
      if (fatal.compareAndSet(false, true)) {
        raise(AsyncEventType.DEVICE_FATAL);
      }
    }
  }
}
