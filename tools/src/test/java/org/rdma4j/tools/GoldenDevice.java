package org.rdma4j.tools;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.rdma4j.ib.core.verbs.AtomicCapability;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidTable;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortImmutable;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.PortSpeed;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.PortWidth;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;

/** The device of the golden files: a kernel {@code rxe0} on {@code eth0}, index 2, with the same values. */
public final class GoldenDevice implements RdmaDevice {
  private static final List<String> COUNTERS =
      List.of(
          "sent_pkts", "rcvd_pkts", "duplicate_request", "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err",
          "rcvd_seq_err", "ack_deferred", "retry_exceeded_err", "retry_rnr_exceeded_err", "completer_retry_err",
          "send_err", "link_downed", "rdma_sends", "rdma_recvs");

  private final String name;
  private final int index;
  private final Resources resources = new Resources();

  public GoldenDevice() {
    this("rxe0", 0);
  }

  public GoldenDevice(String name, int index) {
    this.name = name;
    this.index = index;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public String driver() {
    return "rxe";
  }

  @Override
  public Guid nodeGuid() {
    return Guid.parse("5054:00ff:fe00:0201");
  }

  @Override
  public DeviceAttributes attributes() {
    DeviceAttributes.Builder builder =
        DeviceAttributes.builder()
            .nodeGuid(nodeGuid())
            .systemImageGuid(nodeGuid())
            .vendorId(0xffffff)
            .maxMrSize(-1)
            .pageSizeCapabilities(0xfffff000L)
            .atomicCapability(AtomicCapability.HCA)
            .localCaAckDelay(15)
            .capabilities(
                EnumSet.of(
                    DeviceCapability.BAD_PKEY_CNTR,
                    DeviceCapability.BAD_QKEY_CNTR,
                    DeviceCapability.AUTO_PATH_MIG,
                    DeviceCapability.CHANGE_PHY_PORT,
                    DeviceCapability.UD_AV_PORT_ENFORCE,
                    DeviceCapability.PORT_ACTIVE_EVENT,
                    DeviceCapability.SYS_IMAGE_GUID,
                    DeviceCapability.RC_RNR_NAK_GEN,
                    DeviceCapability.SRQ_RESIZE,
                    DeviceCapability.MEM_WINDOW,
                    DeviceCapability.MEM_MGT_EXTENSIONS,
                    DeviceCapability.MEM_WINDOW_TYPE_2B));
    limits().forEach(builder::limit);
    return builder.build();
  }

  private static Map<DeviceLimit, Long> limits() {
    Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);
    limits.put(DeviceLimit.MAX_QP, 1048560L);
    limits.put(DeviceLimit.MAX_QP_WR, 1048576L);
    limits.put(DeviceLimit.MAX_SEND_SGE, 32L);
    limits.put(DeviceLimit.MAX_RECV_SGE, 32L);
    limits.put(DeviceLimit.MAX_SGE_RD, 32L);
    limits.put(DeviceLimit.MAX_CQ, 1048576L);
    limits.put(DeviceLimit.MAX_CQE, 32767L);
    limits.put(DeviceLimit.MAX_MR, 524287L);
    limits.put(DeviceLimit.MAX_PD, 1048576L);
    limits.put(DeviceLimit.MAX_QP_RD_ATOM, 128L);
    limits.put(DeviceLimit.MAX_RES_RD_ATOM, 258048L);
    limits.put(DeviceLimit.MAX_QP_INIT_RD_ATOM, 128L);
    limits.put(DeviceLimit.MAX_MW, 524287L);
    limits.put(DeviceLimit.MAX_MCAST_GRP, 8192L);
    limits.put(DeviceLimit.MAX_MCAST_QP_ATTACH, 56L);
    limits.put(DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH, 458752L);
    limits.put(DeviceLimit.MAX_AH, 32767L);
    limits.put(DeviceLimit.MAX_SRQ, 917503L);
    limits.put(DeviceLimit.MAX_SRQ_WR, 1048576L);
    limits.put(DeviceLimit.MAX_SRQ_SGE, 27L);
    limits.put(DeviceLimit.MAX_PKEYS, 64L);
    return limits;
  }

  @Override
  public int portCount() {
    return 1;
  }

  @Override
  public PortAttributes port(int port) {
    check(port);
    return PortAttributes.builder()
        .state(PortState.ACTIVE)
        .physicalState(PortPhysState.LINK_UP)
        .linkLayer(LinkLayer.ETHERNET)
        .maxMtu(PathMtu.MTU_4096)
        .activeMtu(PathMtu.MTU_4096)
        .activeWidth(PortWidth.WIDTH_1X)
        .activeSpeed(PortSpeed.SDR)
        .maxMessageSize(0x800000)
        .capabilityFlags(0x10000)
        .maxVlNumber(1)
        .gidTableLength(1024)
        .pkeyTableLength(1)
        .build();
  }

  @Override
  public PortImmutable portImmutable(int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String netdev(int port) {
    check(port);
    return "eth0";
  }

  @Override
  public GidTable gidTable(int port) {
    check(port);
    return new Gids();
  }

  @Override
  public int pkey(int port, int position) {
    return 0xffff;
  }

  @Override
  public int findPkey(int port, int pkey) {
    return (pkey & 0x7fff) == 0x7fff ? 0 : -1;
  }

  @Override
  public CounterSet counters(int port) {
    check(port);
    return new CounterSet(COUNTERS, new long[COUNTERS.size()]);
  }

  @Override
  public Context open() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Context open(String comm) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Resources resources() {
    return resources;
  }

  private static void check(int port) {
    if (port != 1) {
      throw new VerbsException(Errno.EINVAL, "port " + port);
    }
  }

  /** What the golden device has of objects; tests add theirs. */
  public static final class Resources implements ResourceTable {
    public final List<Ctx> contexts = new ArrayList<>();
    public final List<Pd> pds = new ArrayList<>();
    public final List<Cq> cqs = new ArrayList<>();
    public final List<Qp> qps = new ArrayList<>();
    public final List<Mr> mrs = new ArrayList<>();
    public final List<Srq> srqs = new ArrayList<>();

    @Override
    public int count(ResourceType type) {
      return switch (type) {
        case PD -> pds.size();
        case CQ -> cqs.size();
        case QP -> qps.size();
        case CM_ID -> 0; // The connection manager has them.
        case MR -> mrs.size();
        case CTX -> contexts.size();
        case SRQ -> srqs.size();
      };
    }

    @Override
    public List<Ctx> contexts() {
      return contexts;
    }

    @Override
    public List<Pd> protectionDomains() {
      return pds;
    }

    @Override
    public List<Cq> completionQueues() {
      return cqs;
    }

    @Override
    public List<Qp> queuePairs() {
      return qps;
    }

    @Override
    public List<Mr> memoryRegions() {
      return mrs;
    }

    @Override
    public List<Srq> sharedReceiveQueues() {
      return srqs;
    }
  }

  private static final class Gids implements GidTable {
    private final List<GidEntry> entries =
        List.of(entry(0, "fe80::5054:ff:fe00:201"), entry(1, "::ffff:192.0.2.2"), entry(2, "2001:db8::2"));

    private static GidEntry entry(int index, String gid) {
      return new GidEntry(1, index, Gid.parse(gid), GidType.ROCE_V2, "eth0");
    }

    @Override
    public int size() {
      return 1024;
    }

    @Override
    public GidEntry entry(int index) {
      return index < entries.size() ? entries.get(index) : null;
    }

    @Override
    public GidEntry find(Gid gid) {
      return entries.stream().filter(each -> each.gid().equals(gid)).findFirst().orElse(null);
    }

    @Override
    public List<GidEntry> entries() {
      return entries;
    }
  }
}
