package org.rdma4j.ib.core.verbs;

/**
 * Sizes of a queue pair ({@code struct ib_qp_cap}).
 *
 * @param maxSendWr send work requests outstanding
 * @param maxRecvWr receive work requests outstanding; not used with a shared receive queue
 * @param maxSendSge scatter/gather entries of a send
 * @param maxRecvSge scatter/gather entries of a receive
 * @param maxInlineData bytes of inline data
 */
public record QpCapabilities(int maxSendWr, int maxRecvWr, int maxSendSge, int maxRecvSge, int maxInlineData) {}
