package org.rdma4j.mlx5.device.internal;

/**
 * What a shared receive queue is made of.
 *
 * @param count entries, a power of two
 * @param stride bytes of an entry
 * @param pd protection domain
 * @param xrcDomain XRC domain, or -1 for a receive memory pool
 * @param completions its completion queue, or null for a receive memory pool
 * @param doorbellRecord DMA address of the count of what was posted
 * @param buffer where the entries are
 */
record SrqShape(
    int count,
    int stride,
    int pd,
    int xrcDomain,
    CompletionQueue completions,
    long doorbellRecord,
    PageList buffer) {}
