package org.rdma4j.rdma.cm.ib;

import org.rdma4j.ib.core.verbs.QpType;

/**
 * What a REQ says (kernel: {@code struct ib_cm_req_param}).
 *
 * @param path the way for the queue pairs and for the messages
 * @param serviceId whom the peer's listener is known by
 * @param qpn queue pair of this side
 * @param qpType RC, UC or XRC initiator
 * @param startingPsn first PSN that this side expects, 24 bits
 * @param responderResources reads and atomics that this side serves at once, 8 bits
 * @param initiatorDepth reads and atomics that this side wants to have outstanding, 8 bits
 * @param responseTimeout exponent of what each side's manager takes to answer, 5 bits
 * @param flowControl end-to-end flow control
 * @param retryCount 3 bits
 * @param rnrRetryCount 3 bits
 * @param maxCmRetries how often a message is sent again, 4 bits
 * @param srq whether the queue pair takes receives from a shared queue
 * @param vendorId of the enhanced connection options, 24 bits
 * @param attributeModifier enhanced connection options
 * @param privateData at most 92 bytes
 */
public record ReqParameters(
    CmPath path,
    long serviceId,
    int qpn,
    QpType qpType,
    int startingPsn,
    int responderResources,
    int initiatorDepth,
    int responseTimeout,
    boolean flowControl,
    int retryCount,
    int rnrRetryCount,
    int maxCmRetries,
    boolean srq,
    int vendorId,
    int attributeModifier,
    byte[] privateData) {}
