package org.rdma4j.rdma.cm.ib;

/**
 * What a REP says (kernel: {@code struct ib_cm_rep_param}).
 *
 * @param qpn queue pair of this side
 * @param startingPsn first PSN that this side expects, 24 bits
 * @param responderResources reads and atomics that this side serves at once, 8 bits
 * @param initiatorDepth reads and atomics that this side wants to have outstanding, 8 bits
 * @param failoverAccepted 2 bits
 * @param flowControl end-to-end flow control
 * @param rnrRetryCount 3 bits
 * @param srq whether the queue pair takes receives from a shared queue
 * @param vendorId of the enhanced connection options, 24 bits
 * @param attributeModifier enhanced connection options
 * @param privateData at most 196 bytes
 */
public record RepParameters(
    int qpn,
    int startingPsn,
    int responderResources,
    int initiatorDepth,
    int failoverAccepted,
    boolean flowControl,
    int rnrRetryCount,
    boolean srq,
    int vendorId,
    int attributeModifier,
    byte[] privateData) {}
