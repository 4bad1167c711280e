package org.rdma4j.mlx5.device.internal;

/**
 * What an event queue is made of.
 *
 * @param number its number
 * @param logSize log2 of its entries
 * @param vector interrupt vector
 * @param uar page of its doorbells
 * @param mask a bit for each type of event that comes here
 * @param ignoresOverrun whether entries may be overwritten
 * @param buffer where the entries are
 */
record EqShape(
    int number, int logSize, int vector, int uar, long mask, boolean ignoresOverrun, PageList buffer) {}
