package org.rdma4j.ib.core.verbs;

/**
 * Attributes of a shared receive queue ({@code struct ib_srq_attr}).
 *
 * @param maxWr receives outstanding
 * @param maxSge scatter/gather entries of a receive
 * @param limit below how many receives the limit event is raised once; 0 when not armed
 */
public record SrqAttributes(int maxWr, int maxSge, int limit) {}
