package org.rdma4j.provider.contract.suite;

import java.util.function.Predicate;
import org.rdma4j.ib.core.verbs.AtomicCapability;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * What a device may have or not. What has no flag or limit of its own is asked by trying: EOPNOTSUPP says no.
 */
public enum Need {
  /** Queue pairs of type UC. */
  UC("queue pairs of type UC", device -> has(device, QpType.UC)),
  /** Queue pairs of type UD. */
  UD("queue pairs of type UD", device -> has(device, QpType.UD)),
  /** READs. */
  READ("RDMA READ (max_qp_rd_atom is 0)", Need::reads),
  /** Extended reliable connections. */
  XRC("extended reliable connections (XRC)", device -> device.attributes().has(DeviceCapability.XRC)),
  /** Shared receive queues. */
  SRQ("shared receive queues (max_srq is 0)", device -> limit(device, DeviceLimit.MAX_SRQ) > 0),
  /** Shared receive queues of another size. */
  SRQ_RESIZE("SRQ_RESIZE", device -> device.attributes().has(DeviceCapability.SRQ_RESIZE)),
  /** Compare and swap, fetch and add. */
  ATOMICS("atomics", device -> device.attributes().atomicCapability() != AtomicCapability.NONE),
  /** Windows bound by a call. */
  WINDOWS_1("memory windows of type 1 (MEM_WINDOW)", device -> device.attributes().has(DeviceCapability.MEM_WINDOW)),
  /** Windows bound by a work request. */
  WINDOWS_2(
      "memory windows of type 2 (MEM_WINDOW_TYPE_2A/B)", Need::secondWindows),
  /** Fast registration, local and remote invalidation. */
  FAST_REGISTRATION(
      "fast registration and invalidation (MEM_MGT_EXTENSIONS)", Need::fastRegistration),
  /** Data in the work request. */
  INLINE("inline data (max_inline_data is 0)", device -> limit(device, DeviceLimit.MAX_INLINE_DATA) > 0),
  /** Multicast groups. */
  MULTICAST("multicast (max_mcast_grp is 0)", device -> limit(device, DeviceLimit.MAX_MCAST_GRP) > 0),
  /** Receiver-not-ready. */
  RNR_NAK("RC_RNR_NAK_GEN", device -> device.attributes().has(DeviceCapability.RC_RNR_NAK_GEN)),
  /** Writes of 8 bytes at once. */
  ATOMIC_WRITE("atomic write (ATOMIC_WRITE)", device -> device.attributes().has(DeviceCapability.ATOMIC_WRITE)),
  /** Flushes. */
  FLUSH("flush (FLUSH_GLOBAL)", device -> device.attributes().has(DeviceCapability.FLUSH_GLOBAL)),
  /** Counters. */
  COUNTERS("hardware counters", device -> !device.counters(1).names().isEmpty()),
  /** Management datagrams. */
  MADS("management datagrams (no MAD port)", device -> device.portImmutable(1).maxMadSize() > 0),
  /** Completion queues of another size. */
  CQ_RESIZE("resizing of completion queues", Need::resizes);

  private final String what;
  private final Predicate<RdmaDevice> test;

  Need(String what, Predicate<RdmaDevice> test) {
    this.what = what;
    this.test = test;
  }

  /**
   * Looks for what is missing.
   *
   * @param device where
   * @return why a case is skipped, or null where the device has it
   */
  public String missing(RdmaDevice device) {
    return test.test(device) ? null : device.name() + " has no " + what;
  }

  static long limit(RdmaDevice device, DeviceLimit limit) {
    return device.attributes().limit(limit);
  }

  private static boolean secondWindows(RdmaDevice device) {
    return device.attributes().has(DeviceCapability.MEM_WINDOW_TYPE_2A)
        || device.attributes().has(DeviceCapability.MEM_WINDOW_TYPE_2B);
  }

  private static boolean fastRegistration(RdmaDevice device) {
    return device.attributes().has(DeviceCapability.MEM_MGT_EXTENSIONS);
  }

  private static boolean reads(RdmaDevice device) {
    return limit(device, DeviceLimit.MAX_QP_RD_ATOM) > 0 && limit(device, DeviceLimit.MAX_QP_INIT_RD_ATOM) > 0;
  }

  private static boolean has(RdmaDevice device, QpType type) {
    return tried(
        device,
        context -> {
          CompletionQueue cq = context.createCq(1, null, 0);
          context.allocatePd().createQp(new QpInitAttributes(type).sendCq(cq).recvCq(cq));
          return true;
        });
  }

  private static boolean resizes(RdmaDevice device) {
    return tried(
        device,
        context -> {
          context.createCq(4, null, 0).resize(8);
          return true;
        });
  }

  private static boolean tried(RdmaDevice device, Predicate<Context> what) {
    try (Context context = device.open("contract")) {
      return what.test(context);
    } catch (VerbsException e) {
      if (e.errno() == Errno.EOPNOTSUPP) {
        return false;
      }
      throw e;
    }
  }
}
