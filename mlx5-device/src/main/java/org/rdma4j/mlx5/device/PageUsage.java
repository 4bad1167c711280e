package org.rdma4j.mlx5.device;

/**
 * The pages of the host that the driver has handed over with MANAGE_PAGES, of 4096 bytes each.
 *
 * @param given all of them
 * @param free those that hold no entry now
 * @param requested those that the card has asked for by a page-request event and not got yet
 */
public record PageUsage(int given, int free, int requested) {}
