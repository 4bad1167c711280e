package org.rdma4j.ib.core.verbs;

/**
 * What a completion queue is to be ({@code struct ib_cq_init_attr}).
 *
 * @param entries at least so many entries, 1 to max_cqe
 * @param channel where its events go, or null for none
 * @param vector the completion vector, 0 to completion vectors - 1
 */
public record CqInitAttributes(int entries, CompletionChannel channel, int vector) {}
