package org.rdma4j.rxe;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.List;
import org.rdma4j.ib.core.verbs.AtomicCapability;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.NodeType;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.PortSpeed;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.PortWidth;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.EngineCounters;

/**
 * What the device says of itself, with the kernel's values ({@code rxe.c:rxe_init_device_param,
 * rxe_init_port_param}).
 */
final class RxeAttributes {
  private static final long PAGE_SIZES = 0xffff_f000L;
  private static final int VENDOR_ID = 0xff_ffff;
  private static final int PORT_CM_SUPPORTED = 1 << 16;
  private static final int COUNTER_LIMIT = 0xffff;
  private static final long SUBNET_PREFIX = 0xfe80_0000_0000_0000L;

  /** The kernel's hardware counters, in its order ({@code rxe_hw_counters.c}). */
  private static final List<EngineCounter> HARDWARE =
      List.of(
          EngineCounter.SENT_PKTS,
          EngineCounter.RCVD_PKTS,
          EngineCounter.DUPLICATE_REQUEST,
          EngineCounter.OUT_OF_SEQ_REQUEST,
          EngineCounter.RCVD_RNR_ERR,
          EngineCounter.SEND_RNR_ERR,
          EngineCounter.RCVD_SEQ_ERR,
          EngineCounter.ACK_DEFERRED,
          EngineCounter.RETRY_EXCEEDED_ERR,
          EngineCounter.RETRY_RNR_EXCEEDED_ERR,
          EngineCounter.COMPLETER_RETRY_ERR,
          EngineCounter.SEND_ERR,
          EngineCounter.LINK_DOWNED,
          EngineCounter.RDMA_SENDS,
          EngineCounter.RDMA_RECVS);

  private static final List<String> COUNTER_NAMES = HARDWARE.stream().map(EngineCounter::label).toList();

  private RxeAttributes() {}

  static DeviceAttributes device(Guid guid, int completionVectors) {
    DeviceAttributes.Builder builder =
        DeviceAttributes.builder()
            .nodeType(NodeType.CA)
            .nodeGuid(guid)
            .systemImageGuid(guid)
            .nodeDescription("rxe")
            .firmwareVersion("")
            .transport("InfiniBand")
            .vendorId(VENDOR_ID)
            .portCount(1)
            .completionVectors(completionVectors)
            .maxMrSize(-1)
            .pageSizeCapabilities(PAGE_SIZES)
            // The kernel's rxe claims path migration and a change of the port though it has neither, and ibv_devinfo
            // shows it; whoever asks for them here is refused with the reason.
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
                    DeviceCapability.XRC,
                    DeviceCapability.MEM_MGT_EXTENSIONS,
                    DeviceCapability.MEM_WINDOW_TYPE_2B,
                    DeviceCapability.FLUSH_GLOBAL,
                    DeviceCapability.FLUSH_PERSISTENT,
                    DeviceCapability.ATOMIC_WRITE))
            .atomicCapability(AtomicCapability.HCA)
            .localCaAckDelay(Limits.LOCAL_CA_ACK_DELAY);
    limits(builder);
    return builder.build();
  }

  private static void limits(DeviceAttributes.Builder builder) {
    builder
        .limit(DeviceLimit.MAX_QP, Limits.MAX_QP)
        .limit(DeviceLimit.MAX_QP_WR, Limits.MAX_WR)
        .limit(DeviceLimit.MAX_SEND_SGE, Limits.MAX_SGE)
        .limit(DeviceLimit.MAX_RECV_SGE, Limits.MAX_SGE)
        .limit(DeviceLimit.MAX_SGE_RD, Limits.MAX_SGE)
        .limit(DeviceLimit.MAX_INLINE_DATA, Limits.MAX_INLINE_DATA)
        .limit(DeviceLimit.MAX_CQ, Limits.MAX_CQ)
        .limit(DeviceLimit.MAX_CQE, Limits.MAX_CQE)
        .limit(DeviceLimit.MAX_MR, Limits.MAX_MR)
        .limit(DeviceLimit.MAX_PD, Limits.MAX_PD)
        .limit(DeviceLimit.MAX_QP_RD_ATOM, Limits.MAX_RD_ATOMIC)
        .limit(DeviceLimit.MAX_QP_INIT_RD_ATOM, Limits.MAX_RD_ATOMIC)
        .limit(DeviceLimit.MAX_RES_RD_ATOM, Limits.MAX_RES_RD_ATOMIC)
        .limit(DeviceLimit.MAX_MW, Limits.MAX_MW)
        .limit(DeviceLimit.MAX_MCAST_GRP, Limits.MAX_MCAST_GROUPS)
        .limit(DeviceLimit.MAX_MCAST_QP_ATTACH, Limits.MAX_MCAST_QP_ATTACH)
        .limit(DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH, Limits.MAX_TOTAL_MCAST_QP_ATTACH)
        .limit(DeviceLimit.MAX_AH, Limits.LAST_AH)
        .limit(DeviceLimit.MAX_SRQ, Limits.MAX_SRQ)
        .limit(DeviceLimit.MAX_SRQ_WR, Limits.MAX_WR)
        .limit(DeviceLimit.MAX_SRQ_SGE, Limits.MAX_SRQ_SGE)
        .limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN, Limits.MAX_FAST_REG_PAGES)
        .limit(DeviceLimit.MAX_PKEYS, Limits.MAX_PKEYS);
  }

  static PortAttributes port(String netdev, boolean active, PathMtu mtu, int pkeys, EngineCounters counters) {
    int megabits = PortNetdev.speedMegabits(netdev);
    PortPhysState down =
        PortNetdev.isAdministrativelyUp(netdev) ? PortPhysState.POLLING : PortPhysState.DISABLED;
    return PortAttributes.builder()
        .state(active ? PortState.ACTIVE : PortState.DOWN)
        .physicalState(active ? PortPhysState.LINK_UP : down)
        .linkLayer(LinkLayer.ETHERNET)
        .maxMtu(PathMtu.MTU_4096)
        .activeMtu(mtu)
        .activeWidth(width(megabits))
        .activeSpeed(speed(megabits))
        .maxMessageSize(Limits.MAX_MESSAGE_SIZE)
        .capabilityFlags(PORT_CM_SUPPORTED)
        .gidTableLength(Limits.GID_TABLE_LENGTH)
        .pkeyTableLength(pkeys)
        .badPkeyCounter((int) Math.min(COUNTER_LIMIT, counters.get(EngineCounter.BAD_PKEY)))
        .qkeyViolationCounter((int) Math.min(COUNTER_LIMIT, counters.get(EngineCounter.BAD_QKEY)))
        .maxVlNumber(1)
        .subnetPrefix(SUBNET_PREFIX)
        .build();
  }

  /** {@code core/verbs.c:ib_get_eth_speed}: lanes and speed of a lane that come closest from above. */
  private static PortWidth width(int megabits) {
    return megabits <= 10_000 || (megabits > 20_000 && megabits <= 25_000) ? PortWidth.WIDTH_1X : PortWidth.WIDTH_4X;
  }

  private static PortSpeed speed(int megabits) {
    if (megabits <= 1_000) {
      return PortSpeed.SDR;
    }
    if (megabits <= 10_000) {
      return PortSpeed.FDR10;
    }
    if (megabits <= 20_000) {
      return PortSpeed.DDR;
    }
    if (megabits <= 25_000) {
      return PortSpeed.EDR;
    }
    return megabits <= 40_000 ? PortSpeed.FDR10 : PortSpeed.EDR;
  }

  static CounterSet counters(EngineCounters counters, long linkSendErrors) {
    long[] values = new long[HARDWARE.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = counters.get(HARDWARE.get(i));
      if (HARDWARE.get(i) == EngineCounter.SEND_ERR) {
        values[i] += linkSendErrors;
      }
    }
    return new CounterSet(COUNTER_NAMES, values);
  }

  /**
   * The EUI-64 of the interface's MAC address. An interface without one, such as lo, gets one of the locally
   * administered range, made from the names, so that it is the same after a restart and differs between devices.
   */
  static Guid guid(RxeSettings settings, Netdev netdev) {
    if (netdev.mac() != null && netdev.mac().value() != 0) {
      return Guid.ofMac(netdev.mac());
    }
    try {
      String names = settings.name() + " " + settings.netdev() + " " + settings.address();
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(names.getBytes(StandardCharsets.UTF_8));
      byte[] mac = new byte[6];
      System.arraycopy(digest, 0, mac, 0, mac.length);
      mac[0] = (byte) (mac[0] & 0xfc | 2);
      return Guid.ofMac(MacAddress.of(mac));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
