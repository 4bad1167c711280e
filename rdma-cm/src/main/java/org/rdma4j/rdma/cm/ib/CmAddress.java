package org.rdma4j.rdma.cm.ib;

import org.rdma4j.roce.address.Gid;

/**
 * The way to a peer's communication manager (kernel: {@code struct cm_av}).
 *
 * @param local GID from which messages go
 * @param remote GID of the peer
 * @param pkey of the messages
 * @param trafficClass 8 bits
 * @param flowLabel 20 bits
 * @param hopLimit 8 bits
 * @param serviceLevel 4 bits
 */
public record CmAddress(
    Gid local, Gid remote, int pkey, int trafficClass, int flowLabel, int hopLimit, int serviceLevel) {}
