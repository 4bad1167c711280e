package org.rdma4j.rdma.cm;

import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/**
 * The way to a peer ({@code struct ibv_sa_path_rec} as RoCE fills it).
 *
 * @param source local GID
 * @param destination GID of the peer
 * @param pkey partition, 16 bits
 * @param mtu of packets
 * @param rate code of the static rate, 0 that of the port
 * @param packetLifeTime exponent of how long a packet is under way, 4.096 us times a power of two
 * @param trafficClass 8 bits
 * @param flowLabel 20 bits
 * @param hopLimit 8 bits
 * @param serviceLevel 4 bits
 */
public record RdmaRoute(
    Gid source,
    Gid destination,
    int pkey,
    PathMtu mtu,
    int rate,
    int packetLifeTime,
    int trafficClass,
    int flowLabel,
    int hopLimit,
    int serviceLevel) {}
