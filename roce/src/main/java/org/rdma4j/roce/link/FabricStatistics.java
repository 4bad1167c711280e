package org.rdma4j.roce.link;

/**
 * What became of the packets given to a {@link Fabric} so far.
 *
 * @param sent packets that links handed to the fabric
 * @param delivered packets, copies included, that reached a link
 * @param lost packets lost by chance
 * @param duplicated packets that were sent on twice
 * @param corrupted packets, copies included, that were damaged
 * @param reordered packets, copies included, that were held back
 * @param cut packets dropped in an outage or between partitioned addresses
 * @param unreachable packets whose destination no link had when they were to arrive
 * @param overflowed packets dropped because the receiver's queue was full
 */
public record FabricStatistics(
    long sent,
    long delivered,
    long lost,
    long duplicated,
    long corrupted,
    long reordered,
    long cut,
    long unreachable,
    long overflowed) {}
