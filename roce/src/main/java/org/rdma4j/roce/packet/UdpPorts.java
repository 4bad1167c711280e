package org.rdma4j.roce.packet;

/**
 * The UDP ports of RoCEv2: one destination port, and a source port that spreads connections over paths (RoCEv2 annex
 * A17.4.5.1). Receivers accept any source port.
 */
public final class UdpPorts {

  /** The destination port of every RoCEv2 packet. */
  public static final int ROCE_V2 = 4791;

  private static final int FIRST = 0xc000;
  private static final int PORT_BITS = 14;
  private static final int PORT_MASK = (1 << PORT_BITS) - 1;
  private static final int FLOW_LABEL_MASK = 0xf_ffff;
  private static final int GOLDEN_RATIO = 0x61c8_8647;

  private UdpPorts() {}

  /**
   * The source port of a connection with a flow label (kernel rdma/ib_verbs.h, rdma_flow_label_to_udp_sport).
   *
   * @param flowLabel 20 bits
   * @return 0xc000 to 0xffff
   */
  public static int ofFlowLabel(int flowLabel) {
    int label = flowLabel & FLOW_LABEL_MASK;
    return FIRST | label & PORT_MASK ^ label >>> PORT_BITS;
  }

  /**
   * The flow label of a connection whose address vector has none, the same for both sides (kernel rdma/ib_verbs.h,
   * rdma_calc_flow_label).
   *
   * @param localQp number of one queue pair, 24 bits
   * @param remoteQp number of the other
   * @return 20 bits
   */
  public static int flowLabel(int localQp, int remoteQp) {
    long v = (long) localQp * remoteQp;
    v ^= v >>> 20;
    v ^= v >>> 40;
    return (int) v & FLOW_LABEL_MASK;
  }

  /**
   * The source port of an RC or UC connection as rxe chooses it (kernel rdma/ib_verbs.h, rdma_get_udp_sport).
   *
   * @param flowLabel that of the address vector; 0 when it has none
   * @param localQp number of one queue pair, 24 bits
   * @param remoteQp number of the other
   * @return 0xc000 to 0xffff
   */
  public static int ofConnection(int flowLabel, int localQp, int remoteQp) {
    return ofFlowLabel(flowLabel != 0 ? flowLabel : flowLabel(localQp, remoteQp));
  }

  /**
   * The source port of a UD queue pair, queue pair 1 included, as rxe chooses it (kernel sw/rxe/rxe_qp.c,
   * rxe_qp_init_req).
   *
   * @param qp number of the queue pair, 24 bits
   * @return 0xc000 to 0xffff
   */
  public static int ofQueuePair(int qp) {
    return FIRST + (qp * GOLDEN_RATIO >>> 32 - PORT_BITS);
  }
}
