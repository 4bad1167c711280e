package org.rdma4j.mlx5.ib;

import java.util.EnumSet;
import org.rdma4j.ib.core.verbs.AtomicCapability;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.NodeType;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.PortSpeed;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.PortWidth;
import org.rdma4j.mlx5.core.Capabilities;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.NicVportCommands;
import org.rdma4j.mlx5.core.PortCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;

/** What the device says of itself, from the card's capabilities (kernel: {@code main.c:mlx5_ib_query_device}). */
final class DeviceValues {
  private static final int SEGMENT = 16;
  private static final int PORT_CM_SUPPORTED = 1 << 16;
  private static final int MAX_SGE_RD = 30;
  private static final long SUBNET_PREFIX = 0xfe80_0000_0000_0000L;
  private static final int ATOMIC_OPERATIONS = 3;

  /** Bits of the legacy link modes ({@code port.h}: {@code MLX5E_*}), by speed. */
  private static final int GIGABIT = 0x3;
  private static final int TEN_GIGABIT = 0x701c;
  private static final int TWENTY_FIVE = 0x3800_0000;
  private static final int FORTY = 0x1_80c0;
  private static final int FIFTY = 0xc000_0000;
  private static final int FIFTY_SIX = 0x100;
  private static final int HUNDRED = 0xf0_0000;
  private static final int ONE_LANE = GIGABIT | TEN_GIGABIT | TWENTY_FIVE | FIFTY;

  private DeviceValues() {}

  static DeviceAttributes device(Mlx5Device core) {
    Structure vport = NicVportCommands.query(core);
    Capabilities capabilities = core.capabilities();
    DeviceAttributes.Builder builder =
        DeviceAttributes.builder()
            .nodeType(NodeType.CA)
            .nodeGuid(new Guid(vport.getLong("node_guid")))
            .systemImageGuid(new Guid(vport.getLong("system_image_guid")))
            .nodeDescription(PortCommands.nodeDescription(core))
            .firmwareVersion(core.firmwareVersion())
            .transport("InfiniBand")
            .vendorId(core.vendorId())
            .vendorPartId(core.deviceId())
            .hardwareVersion(core.revision())
            .portCount(1)
            .completionVectors(core.completionVectors())
            .maxMrSize(-1)
            .pageSizeCapabilities(-1L << capabilities.general("log_pg_sz"))
            .capabilities(flags(capabilities))
            .atomicCapability(atomics(capabilities))
            .localCaAckDelay(capabilities.general("local_ca_ack_delay"));
    limits(builder, capabilities);
    return builder.build();
  }

  private static EnumSet<DeviceCapability> flags(Capabilities capabilities) {
    EnumSet<DeviceCapability> flags =
        EnumSet.of(
            DeviceCapability.PORT_ACTIVE_EVENT, DeviceCapability.SYS_IMAGE_GUID, DeviceCapability.RC_RNR_NAK_GEN);
    if (capabilities.has("pkv")) {
      flags.add(DeviceCapability.BAD_PKEY_CNTR);
    }
    if (capabilities.has("qkv")) {
      flags.add(DeviceCapability.BAD_QKEY_CNTR);
    }
    if (capabilities.has("xrc")) {
      flags.add(DeviceCapability.XRC);
    }
    if (capabilities.has("imaicl")) {
      flags.add(DeviceCapability.MEM_WINDOW);
      flags.add(DeviceCapability.MEM_WINDOW_TYPE_2B);
    }
    if (!capabilities.has("umr_modify_entity_size_disabled")) {
      flags.add(DeviceCapability.MEM_MGT_EXTENSIONS); // Every fast registration changes the size of its key.
    }
    return flags;
  }

  private static AtomicCapability atomics(Capabilities capabilities) {
    boolean both =
        (capabilities.get(CapabilityType.ATOMIC, "atomic_operations") & ATOMIC_OPERATIONS) == ATOMIC_OPERATIONS;
    boolean eight = (capabilities.get(CapabilityType.ATOMIC, "atomic_size_qp") & Long.BYTES) != 0;
    return both && eight ? AtomicCapability.HCA : AtomicCapability.NONE;
  }

  private static void limits(DeviceAttributes.Builder builder, Capabilities capabilities) {
    int receiveSegments = Math.min(32, capabilities.general("max_wqe_sz_rq") / SEGMENT);
    int maxQp = 1 << capabilities.general("log_max_qp");
    int reads = 1 << capabilities.general("log_max_ra_req_qp");
    long groups = 1L << capabilities.general("log_max_mcg");
    long members = capabilities.general("max_qp_mcg");
    builder
        .limit(DeviceLimit.MAX_QP, maxQp)
        .limit(DeviceLimit.MAX_QP_WR, 1L << capabilities.general("log_max_qp_sz"))
        .limit(DeviceLimit.MAX_SEND_SGE, QpShape.MAX_SEND_SGE)
        .limit(DeviceLimit.MAX_RECV_SGE, receiveSegments)
        .limit(DeviceLimit.MAX_SGE_RD, MAX_SGE_RD)
        .limit(DeviceLimit.MAX_INLINE_DATA, QpShape.MAX_INLINE)
        .limit(DeviceLimit.MAX_CQ, 1L << capabilities.general("log_max_cq"))
        .limit(DeviceLimit.MAX_CQE, (1L << capabilities.general("log_max_cq_sz")) - 1)
        .limit(DeviceLimit.MAX_MR, 1L << capabilities.general("log_max_mkey"))
        .limit(DeviceLimit.MAX_MW, capabilities.has("imaicl") ? 1L << capabilities.general("log_max_mkey") : 0)
        .limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN, 1L << capabilities.general("log_max_klm_list_size"))
        .limit(DeviceLimit.MAX_PD, 1L << capabilities.general("log_max_pd"))
        .limit(DeviceLimit.MAX_QP_RD_ATOM, reads)
        .limit(DeviceLimit.MAX_QP_INIT_RD_ATOM, 1L << capabilities.general("log_max_ra_res_qp"))
        .limit(DeviceLimit.MAX_RES_RD_ATOM, (long) reads * maxQp)
        .limit(DeviceLimit.MAX_MCAST_GRP, groups)
        .limit(DeviceLimit.MAX_MCAST_QP_ATTACH, members)
        .limit(DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH, Math.min(Integer.MAX_VALUE, groups * members))
        .limit(DeviceLimit.MAX_AH, Integer.MAX_VALUE)
        .limit(DeviceLimit.MAX_SRQ, 1L << capabilities.general("log_max_srq"))
        .limit(DeviceLimit.MAX_SRQ_WR, (1L << capabilities.general("log_max_srq_sz")) - 1)
        .limit(DeviceLimit.MAX_SRQ_SGE, receiveSegments - 1)
        .limit(DeviceLimit.MAX_PKEYS, 1);
  }

  static PortAttributes port(Mlx5Device core) {
    boolean up = PortCommands.isUp(core, 1);
    Structure modes = PortCommands.linkModes(core, 1);
    int mode = modes.get("eth_proto_oper");
    return PortAttributes.builder()
        .state(up ? PortState.ACTIVE : PortState.DOWN)
        .physicalState(up ? PortPhysState.LINK_UP : PortPhysState.DISABLED)
        .linkLayer(LinkLayer.ETHERNET)
        .maxMtu(PathMtu.MTU_4096)
        .activeMtu(PathMtu.largestFor(PortCommands.mtu(core, 1).get("oper_mtu")))
        .activeWidth(width(mode))
        .activeSpeed(speed(mode))
        .maxMessageSize(1L << core.capabilities().general("log_max_msg"))
        .capabilityFlags(PORT_CM_SUPPORTED)
        .gidTableLength(core.capabilities().get(CapabilityType.ROCE, "roce_address_table_size"))
        .pkeyTableLength(1)
        .qkeyViolationCounter(NicVportCommands.query(core).get("qkey_violation_counter"))
        .maxVlNumber(1)
        .subnetPrefix(SUBNET_PREFIX)
        .build();
  }

  private static PortWidth width(int mode) {
    return (mode & ONE_LANE) != 0 ? PortWidth.WIDTH_1X : PortWidth.WIDTH_4X;
  }

  /** Speed of a lane, from the bits of the legacy link modes ({@code translate_eth_legacy_proto_oper}). */
  private static PortSpeed speed(int mode) {
    if ((mode & GIGABIT) != 0) {
      return PortSpeed.SDR;
    }
    if ((mode & (TEN_GIGABIT | FORTY)) != 0) {
      return PortSpeed.QDR;
    }
    if ((mode & FIFTY_SIX) != 0) {
      return PortSpeed.FDR;
    }
    if ((mode & FIFTY) != 0) {
      return PortSpeed.HDR;
    }
    return (mode & (TWENTY_FIVE | HUNDRED)) != 0 ? PortSpeed.EDR : PortSpeed.QDR;
  }
}
