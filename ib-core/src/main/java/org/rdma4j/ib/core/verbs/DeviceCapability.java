package org.rdma4j.ib.core.verbs;

import java.util.Set;

/** Device capability flags with the kernel's bits and names ({@code enum ib_device_cap_flags}). */
public enum DeviceCapability {
  /** Queues can be resized. */
  RESIZE_MAX_WR(0),
  /** Counts bad P_Keys. */
  BAD_PKEY_CNTR(1),
  /** Counts bad Q_Keys. */
  BAD_QKEY_CNTR(2),
  /** Raw multicast. */
  RAW_MULTI(3),
  /** Automatic path migration. */
  AUTO_PATH_MIG(4),
  /** The physical port may change in SQD. */
  CHANGE_PHY_PORT(5),
  /** Checks the port of address vectors. */
  UD_AV_PORT_ENFORCE(6),
  /** Knows the current state attribute. */
  CURR_QP_STATE_MOD(7),
  /** Ports can be shut down. */
  SHUTDOWN_PORT(8),
  /** Raises PORT_ACTIVE. */
  PORT_ACTIVE_EVENT(10),
  /** Has a system image GUID. */
  SYS_IMAGE_GUID(11),
  /** Generates RNR NAKs. */
  RC_RNR_NAK_GEN(12),
  /** Shared receive queues can be resized. */
  SRQ_RESIZE(13),
  /** Notifies after N completions. */
  N_NOTIFY_CQ(14),
  /** Memory windows. */
  MEM_WINDOW(17),
  /** Checksum offload for UD. */
  UD_IP_CSUM(18),
  /** Extended reliable connections. */
  XRC(20),
  /** Fast registration, local and remote invalidate. */
  MEM_MGT_EXTENSIONS(21),
  /** Memory windows of type 2A. */
  MEM_WINDOW_TYPE_2A(23),
  /** Memory windows of type 2B. */
  MEM_WINDOW_TYPE_2B(24),
  /** Checksum offload for RC. */
  RC_IP_CSUM(25),
  /** Checksum offload for raw packets. */
  RAW_IP_CSUM(26),
  /** Flow steering. */
  MANAGED_FLOW_STEERING(29),
  /** Scatters the frame checksum. */
  RAW_SCATTER_FCS(34),
  /** Pads the end of PCI writes. */
  PCI_WRITE_END_PADDING(36),
  /** Flush for global visibility. */
  FLUSH_GLOBAL(38),
  /** Flush for persistence. */
  FLUSH_PERSISTENT(39),
  /** Atomic write. */
  ATOMIC_WRITE(40);

  private final int position;

  DeviceCapability(int position) {
    this.position = position;
  }

  /** {@return the bit} */
  public long bit() {
    return 1L << position;
  }

  /**
   * Combines capabilities.
   *
   * @param capabilities the capabilities
   * @return the kernel's bits
   */
  public static long bits(Set<DeviceCapability> capabilities) {
    long bits = 0;
    for (DeviceCapability each : capabilities) {
      bits |= each.bit();
    }
    return bits;
  }
}
