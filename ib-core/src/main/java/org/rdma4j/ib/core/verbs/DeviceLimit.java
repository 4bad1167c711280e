package org.rdma4j.ib.core.verbs;

import java.util.Locale;

/**
 * Limits of a device, named as in {@code struct ib_device_attr}. A limit that a provider does not set is 0, which for
 * numbers of objects means none of the kind can be made.
 */
public enum DeviceLimit {
  /** Queue pairs. */
  MAX_QP,
  /** Work requests in a queue. */
  MAX_QP_WR,
  /** Scatter/gather entries of a send. */
  MAX_SEND_SGE,
  /** Scatter/gather entries of a receive. */
  MAX_RECV_SGE,
  /** Scatter/gather entries of an RDMA READ. */
  MAX_SGE_RD,
  /** Bytes of inline data; no attribute in C, where creation of the queue pair finds out. */
  MAX_INLINE_DATA,
  /** Completion queues. */
  MAX_CQ,
  /** Entries of a completion queue. */
  MAX_CQE,
  /** Memory regions. */
  MAX_MR,
  /** Protection domains. */
  MAX_PD,
  /** RDMA READs and atomics a queue pair can have outstanding as responder. */
  MAX_QP_RD_ATOM,
  /** The same per EE context. */
  MAX_EE_RD_ATOM,
  /** The same for all queue pairs together. */
  MAX_RES_RD_ATOM,
  /** RDMA READs and atomics a queue pair can have outstanding as initiator. */
  MAX_QP_INIT_RD_ATOM,
  /** The same per EE context. */
  MAX_EE_INIT_RD_ATOM,
  /** EE contexts. */
  MAX_EE,
  /** Reliable datagram domains. */
  MAX_RDD,
  /** Memory windows. */
  MAX_MW,
  /** Raw IPv6 queue pairs. */
  MAX_RAW_IPV6_QP,
  /** Raw Ethertype queue pairs. */
  MAX_RAW_ETHY_QP,
  /** Multicast groups. */
  MAX_MCAST_GRP,
  /** Queue pairs attached to one group. */
  MAX_MCAST_QP_ATTACH,
  /** Attachments in all. */
  MAX_TOTAL_MCAST_QP_ATTACH,
  /** Address handles. */
  MAX_AH,
  /** Shared receive queues. */
  MAX_SRQ,
  /** Work requests in a shared receive queue. */
  MAX_SRQ_WR,
  /** Scatter/gather entries of a shared receive. */
  MAX_SRQ_SGE,
  /** Pages of a fast registration. */
  MAX_FAST_REG_PAGE_LIST_LEN,
  /** P_Keys. */
  MAX_PKEYS;

  /** {@return the name of the attribute, as {@code max_qp_wr}} */
  public String attributeName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
