package org.rdma4j.ib.core.mad;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;

/**
 * A MAD that came.
 *
 * @param mad its 256 bytes, unchanged until the receiver returns
 * @param sourceQp queue pair that sent it
 * @param pkeyIndex slot of the local P_Key table with its P_Key
 * @param source GID that it came from
 * @param destination GID of this port that it came to
 * @param trafficClass of its global route header
 * @param flowLabel of its global route header
 * @param hopLimit what was left of it in its global route header
 */
public record ReceivedMad(
    MemorySegment mad,
    int sourceQp,
    int pkeyIndex,
    Gid source,
    Gid destination,
    int trafficClass,
    int flowLabel,
    int hopLimit) {}
