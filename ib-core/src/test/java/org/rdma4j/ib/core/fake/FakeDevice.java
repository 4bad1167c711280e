package org.rdma4j.ib.core.fake;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.NetdevEvent;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;

/** A provider without a wire: it keeps what is posted until it is flushed, and writes down what the core asks of it. */
public class FakeDevice extends IbDevice {
  /** What the core called, in order. */
  public final List<String> log = Collections.synchronizedList(new ArrayList<>());

  /** How many objects the provider has. */
  public final AtomicInteger objects = new AtomicInteger();

  private final AtomicInteger numbers = new AtomicInteger(17);
  private final AtomicInteger keys = new AtomicInteger(0x100);
  private volatile PathMtu activeMtu = PathMtu.MTU_1024;
  private volatile String netdev = "eth0";
  private volatile Gid filter;
  private volatile RuntimeException enableFailure;
  private volatile RuntimeException gidFailure;
  private volatile RuntimeException reregisterFailure;
  private volatile Runnable inCreate = () -> {};
  private volatile Runnable inEnable = () -> {};
  private volatile Runnable inRelease = () -> {};

  public FakeDevice(String nameOrPattern) {
    super(nameOrPattern);
  }

  public FakeDevice activeMtu(PathMtu mtu) {
    this.activeMtu = mtu;
    return this;
  }

  public FakeDevice netdev(String name) {
    this.netdev = name;
    return this;
  }

  public FakeDevice filter(Gid only) {
    this.filter = only;
    return this;
  }

  public FakeDevice enableFailure(RuntimeException failure) {
    this.enableFailure = failure;
    return this;
  }

  public FakeDevice gidFailure(RuntimeException failure) {
    this.gidFailure = failure;
    return this;
  }

  public void reregisterFailure(RuntimeException failure) {
    this.reregisterFailure = failure;
  }

  /** Runs inside every creation of an object. */
  public void inCreate(Runnable code) {
    this.inCreate = code;
  }

  /** Runs while the device comes up. */
  public FakeDevice inEnable(Runnable code) {
    this.inEnable = code;
    return this;
  }

  /** Runs at the begin of the release. */
  public FakeDevice inRelease(Runnable code) {
    this.inRelease = code;
    return this;
  }

  /** What the wire would have reported. */
  public void event(int port, AsyncEventType type) {
    portEvent(port, type);
  }

  /** The device is found dead. */
  public void dead() {
    raise(AsyncEventType.DEVICE_FATAL);
  }

  void note(String what) {
    log.add(what);
  }

  int nextKey() {
    return keys.getAndIncrement();
  }

  @Override
  protected String linkType() {
    return "fake";
  }

  @Override
  protected DeviceAttributes queryDevice() {
    return DeviceAttributes.builder()
        .nodeGuid(new Guid(0x505400fffe000201L))
        .maxMrSize(-1L)
        .capabilities(EnumSet.of(DeviceCapability.MEM_WINDOW, DeviceCapability.MEM_MGT_EXTENSIONS))
        .pageSizeCapabilities(0xffff_f000L)
        .limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN, 8)
        .limit(DeviceLimit.MAX_MW, 2)
        .limit(DeviceLimit.MAX_QP, 64)
        .limit(DeviceLimit.MAX_QP_WR, 1024)
        .limit(DeviceLimit.MAX_SEND_SGE, 32)
        .limit(DeviceLimit.MAX_RECV_SGE, 32)
        .limit(DeviceLimit.MAX_INLINE_DATA, 512)
        .limit(DeviceLimit.MAX_CQ, 64)
        .limit(DeviceLimit.MAX_CQE, 32767)
        .limit(DeviceLimit.MAX_MR, 64)
        .limit(DeviceLimit.MAX_PD, 3)
        .limit(DeviceLimit.MAX_QP_RD_ATOM, 128)
        .limit(DeviceLimit.MAX_QP_INIT_RD_ATOM, 64)
        .limit(DeviceLimit.MAX_AH, 64)
        .limit(DeviceLimit.MAX_SRQ, 64)
        .limit(DeviceLimit.MAX_SRQ_WR, 1024)
        .limit(DeviceLimit.MAX_SRQ_SGE, 27)
        .build();
  }

  @Override
  protected PortAttributes queryPort(int port) {
    return PortAttributes.builder().state(PortState.ACTIVE).activeMtu(activeMtu).gidTableLength(8).build();
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    return new PortImmutable(8, 1, PortCoreCapability.roceV2(), 256);
  }

  @Override
  protected void addGid(GidEntry entry) {
    if (gidFailure != null) {
      throw gidFailure;
    }
    note("addGid " + entry.index() + " " + entry.gid());
  }

  @Override
  protected void removeGid(GidEntry entry) {
    note("removeGid " + entry.index() + " " + entry.gid());
  }

  @Override
  protected String portNetdev(int port) {
    return netdev;
  }

  @Override
  protected Gid portAddressFilter(int port) {
    return filter;
  }

  @Override
  protected void netdevEvent(int port, NetdevEvent event, Netdev interfaceNow) {
    note("netdev " + event);
  }

  @Override
  protected CounterSet hwCounters(int port) {
    return new CounterSet(List.of("sent_pkts", "rcvd_pkts"), 1, 2);
  }

  @Override
  protected void enable() {
    inEnable.run();
    if (enableFailure != null) {
      throw enableFailure;
    }
    note("enable");
  }

  @Override
  protected void release() {
    inRelease.run();
    note("release");
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    inCreate.run();
    objects.incrementAndGet();
    return new ProtectionDomain(owner) {
      @Override
      protected void doDestroy() {
        gone("destroy PD");
      }
    };
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    objects.incrementAndGet();
    return new FakeCq(owner, attributes.entries(), this);
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    objects.incrementAndGet();
    boolean management = EnumSet.of(QpType.SMI, QpType.GSI).contains(attributes.type());
    return new FakeQp(owner, management ? 1 : numbers.getAndIncrement(), attributes, this);
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    objects.incrementAndGet();
    int key = nextKey();
    return new MemoryRegion(owner, key, key) {
      @Override
      protected void doReregister(ProtectionDomain pd, MemorySegment memory, long address, Set<Access> rights) {
        if (reregisterFailure != null) {
          throw reregisterFailure;
        }
        keys(key + 1, key + 1);
      }

      @Override
      protected void doDestroy() {
        gone("destroy MR");
      }
    };
  }

  @Override
  protected MemoryRegion allocateMr(ObjectContext owner, int maxPages) {
    objects.incrementAndGet();
    int key = nextKey() << 8;
    return new MemoryRegion(owner, key, key) {
      @Override
      protected void doMap(MrMapping memory) {
        note("map " + memory.pieces().size() + " pieces of " + memory.length() + " bytes");
      }

      @Override
      protected void doDestroy() {
        gone("destroy MR");
      }
    };
  }

  @Override
  protected MemoryWindow allocateMw(ObjectContext owner, MwType type) {
    objects.incrementAndGet();
    return new FakeMw(owner, type, nextKey() << 8, this);
  }

  @Override
  protected SharedReceiveQueue createSrq(ObjectContext owner, SrqInitAttributes attributes) {
    objects.incrementAndGet();
    return new FakeSrq(owner, attributes, this);
  }

  @Override
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    objects.incrementAndGet();
    return new AddressHandle(owner) {
      @Override
      protected void doDestroy() {
        gone("destroy AH");
      }
    };
  }

  void gone(String what) {
    objects.decrementAndGet();
    note(what);
  }
}
