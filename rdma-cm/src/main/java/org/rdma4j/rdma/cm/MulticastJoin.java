package org.rdma4j.rdma.cm;

/** In which way a multicast group is joined ({@code enum rdma_cm_join_mc_attr}). */
public enum MulticastJoin {
  /** To send and to receive. */
  FULL_MEMBER,
  /** To send only. */
  SEND_ONLY
}
