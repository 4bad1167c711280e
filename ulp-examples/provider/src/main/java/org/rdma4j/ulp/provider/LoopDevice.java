package org.rdma4j.ulp.provider;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqInitAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.NodeType;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortCoreCapability;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;

/**
 * The device: what it says of itself, and how its objects are made. What is not overridden, from shared receive queues
 * to memory windows, is not there, and whoever asks for it is told so by the core.
 */
final class LoopDevice extends IbDevice {
  static final PathMtu MTU = PathMtu.MTU_1024;
  static final int MAX_MESSAGE = 1 << 20;
  private static final int MAX_PD = 64;
  private static final int MAX_CQ = 256;
  private static final int MAX_QP = 256;
  private static final int MAX_MR = 512;
  private static final int MAX_AH = 64;
  private static final int MAX_WR = 1024;
  private static final int MAX_CQE = 4096;
  private static final int MAX_SGE = 4;
  private static final int MAX_READS = 16;
  private static final int GIDS = 16;
  private static final int KEY_BITS = 8;

  private final String netdev;
  private final Gid only;
  private final Wire wire;
  private final Slots<ProtectionDomain> pds = new Slots<>(DeviceLimit.MAX_PD, MAX_PD);
  private final Slots<LoopCq> cqs = new Slots<>(DeviceLimit.MAX_CQ, MAX_CQ);
  private final Slots<LoopQp> qps = new Slots<>(DeviceLimit.MAX_QP, MAX_QP);
  private final Slots<LoopMr> mrs = new Slots<>(DeviceLimit.MAX_MR, MAX_MR);
  private final Slots<LoopAh> ahs = new Slots<>(DeviceLimit.MAX_AH, MAX_AH);

  /**
   * Makes a device that is not registered yet.
   *
   * @param name its name
   * @param netdev the network interface that gives it its addresses
   * @param only the only address it shall have, or null for all of the interface
   * @param wire what it hangs on
   */
  LoopDevice(String name, String netdev, Gid only, Wire wire) {
    super(name);
    this.netdev = netdev;
    this.only = only;
    this.wire = wire;
  }

  Wire wire() {
    return wire;
  }

  Slots<LoopCq> cqs() {
    return cqs;
  }

  Slots<LoopQp> qps() {
    return qps;
  }

  Slots<LoopMr> mrs() {
    return mrs;
  }

  Slots<LoopAh> ahs() {
    return ahs;
  }

  /** The memory behind a key, or null where the key is none. */
  LoopMr memory(int key) {
    LoopMr region = mrs.get(key >>> KEY_BITS);
    return region != null && region.lkey() == key ? region : null;
  }

  @Override
  protected String linkType() {
    return "loop";
  }

  @Override
  protected DeviceAttributes queryDevice() {
    return DeviceAttributes.builder()
        .nodeType(NodeType.CA)
        .nodeGuid(new Guid(0x0200_00ff_fe00_0000L | requestedName().hashCode() & 0xff_ffff))
        .nodeDescription("loop")
        .transport("InfiniBand")
        .portCount(1)
        .completionVectors(1)
        .maxMrSize(-1)
        .pageSizeCapabilities(0xffff_f000L)
        .capabilities(EnumSet.of(DeviceCapability.RC_RNR_NAK_GEN))
        .limit(DeviceLimit.MAX_PD, MAX_PD)
        .limit(DeviceLimit.MAX_CQ, MAX_CQ)
        .limit(DeviceLimit.MAX_CQE, MAX_CQE)
        .limit(DeviceLimit.MAX_QP, MAX_QP)
        .limit(DeviceLimit.MAX_QP_WR, MAX_WR)
        .limit(DeviceLimit.MAX_SEND_SGE, MAX_SGE)
        .limit(DeviceLimit.MAX_RECV_SGE, MAX_SGE)
        .limit(DeviceLimit.MAX_SGE_RD, MAX_SGE)
        .limit(DeviceLimit.MAX_QP_RD_ATOM, MAX_READS)
        .limit(DeviceLimit.MAX_QP_INIT_RD_ATOM, MAX_READS)
        .limit(DeviceLimit.MAX_MR, MAX_MR)
        .limit(DeviceLimit.MAX_AH, MAX_AH)
        .limit(DeviceLimit.MAX_PKEYS, 1)
        .build();
  }

  @Override
  protected PortAttributes queryPort(int port) {
    return PortAttributes.builder()
        .state(PortState.ACTIVE)
        .physicalState(PortPhysState.LINK_UP)
        .linkLayer(LinkLayer.ETHERNET)
        .maxMtu(PathMtu.MTU_4096)
        .activeMtu(MTU)
        .maxMessageSize(MAX_MESSAGE)
        .gidTableLength(GIDS)
        .pkeyTableLength(1)
        .build();
  }

  @Override
  protected PortImmutable portImmutable(int port) {
    return new PortImmutable(GIDS, 1, Set.of(PortCoreCapability.PROT_ROCE_UDP_ENCAP), 0);
  }

  @Override
  protected String portNetdev(int port) {
    return netdev;
  }

  @Override
  protected Gid portAddressFilter(int port) {
    return only;
  }

  @Override
  protected void addGid(GidEntry entry) {
    wire.run(() -> wire.attach(entry.gid(), this));
  }

  @Override
  protected void removeGid(GidEntry entry) {
    wire.run(() -> wire.detach(entry.gid(), this));
  }

  @Override
  protected ProtectionDomain createPd(ObjectContext owner) {
    return pds.add(
        number ->
            new ProtectionDomain(owner) {
              @Override
              protected void doDestroy() {
                pds.remove(number);
              }
            });
  }

  @Override
  protected CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes) {
    return cqs.add(number -> new LoopCq(owner, this, number, attributes.entries()));
  }

  @Override
  protected QueuePair createQp(ObjectContext owner, QpInitAttributes attributes) {
    if (attributes.type() != QpType.RC && attributes.type() != QpType.UD) {
      throw new VerbsException(Errno.EOPNOTSUPP, "queue pairs of type " + attributes.type() + "; there are RC and UD");
    }
    return qps.add(number -> new LoopQp(owner, this, number, attributes.capabilities()));
  }

  @Override
  protected MemoryRegion registerMr(ObjectContext owner, MemorySegment segment, long iova, Set<Access> access) {
    return mrs.add(number -> new LoopMr(owner, this, number, segment, iova, access));
  }

  @Override
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    return ahs.add(number -> new LoopAh(owner, this, number));
  }
}
