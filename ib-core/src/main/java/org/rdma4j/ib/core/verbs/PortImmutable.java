package org.rdma4j.ib.core.verbs;

import java.util.Set;

/**
 * What never changes about a port ({@code struct ib_port_immutable}).
 *
 * @param gidTableLength slots of the GID table, at least 1 on RoCE ports
 * @param pkeyTableLength slots of the P_Key table
 * @param capabilities what the core may do with the port
 * @param maxMadSize bytes of the longest management datagram: 0 without {@link PortCoreCapability#MAD}, else at least
 *     256
 */
public record PortImmutable(
    int gidTableLength, int pkeyTableLength, Set<PortCoreCapability> capabilities, int maxMadSize) {

  /** Copies the capabilities. */
  public PortImmutable {
    capabilities = Set.copyOf(capabilities);
  }

  /** {@return true for RoCE of either version ({@code rdma_protocol_roce})} */
  public boolean isRoce() {
    return capabilities.contains(PortCoreCapability.PROT_ROCE)
        || capabilities.contains(PortCoreCapability.PROT_ROCE_UDP_ENCAP);
  }
}
