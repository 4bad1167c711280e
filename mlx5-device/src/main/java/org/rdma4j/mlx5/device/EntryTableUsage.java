package org.rdma4j.mlx5.device;

/**
 * How much of a table of entries in host pages is in use ("hardware entry memory").
 *
 * @param name type of the entries, as {@code qp} or {@code mtt}
 * @param entryBytes bytes of an entry
 * @param used entries in use
 * @param capacity most entries
 * @param pages host pages of 4096 bytes that hold them
 */
public record EntryTableUsage(String name, int entryBytes, int used, int capacity, int pages) {}
