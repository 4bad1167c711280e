package org.rdma4j.mlx5.device.internal;

/**
 * What a completion queue is made of.
 *
 * @param logSize log2 of its entries
 * @param entryBytes 64 or 128
 * @param uar page of its doorbells
 * @param eqn event queue that tells of it
 * @param doorbellRecord DMA address of its consumer index
 * @param ignoresOverrun whether entries may be overwritten
 * @param buffer where the entries are
 */
record CqShape(
    int logSize, int entryBytes, int uar, int eqn, long doorbellRecord, boolean ignoresOverrun, PageList buffer) {}
