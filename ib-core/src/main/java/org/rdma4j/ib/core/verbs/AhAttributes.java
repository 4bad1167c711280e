package org.rdma4j.ib.core.verbs;

import org.rdma4j.roce.address.Gid;

/**
 * The way to a peer ({@code struct rdma_ah_attr}); immutable, the {@code with} methods give changed copies.
 *
 * @param port the local port, from 1
 * @param destinationGid the peer's GID, or null without a global route header, which RoCE always needs
 * @param sgidIndex the slot of the local GID table with the source address
 * @param flowLabel 20 bits
 * @param trafficClass 8 bits
 * @param hopLimit 8 bits
 * @param serviceLevel 4 bits
 * @param destinationLid the peer's LID on InfiniBand, 16 bits
 * @param sourcePathBits path bits of the own LID, 7 bits
 * @param staticRate code of the rate limit, 0 for the port's
 * @param sourceGid the entry at {@code sgidIndex}; filled in by the core, null before
 */
public record AhAttributes(
    int port,
    Gid destinationGid,
    int sgidIndex,
    int flowLabel,
    int trafficClass,
    int hopLimit,
    int serviceLevel,
    int destinationLid,
    int sourcePathBits,
    int staticRate,
    GidEntry sourceGid) {

  /**
   * The way to a GID with hop limit 64 and all else 0.
   *
   * @param port the local port, from 1
   * @param destinationGid the peer's GID
   * @param sgidIndex the slot of the local GID table with the source address
   */
  public AhAttributes(int port, Gid destinationGid, int sgidIndex) {
    this(port, destinationGid, sgidIndex, 0, 0, 64, 0, 0, 0, 0, null);
  }

  /** {@return true where there is a global route header ({@code is_global})} */
  public boolean isGlobal() {
    return destinationGid != null;
  }

  /**
   * Changes the flow label.
   *
   * @param value 20 bits
   * @return a copy with it
   */
  public AhAttributes withFlowLabel(int value) {
    return new AhAttributes(
        port, destinationGid, sgidIndex, value, trafficClass, hopLimit, serviceLevel, destinationLid, sourcePathBits,
        staticRate, sourceGid);
  }

  /**
   * Changes the traffic class.
   *
   * @param value 8 bits
   * @return a copy with it
   */
  public AhAttributes withTrafficClass(int value) {
    return new AhAttributes(
        port, destinationGid, sgidIndex, flowLabel, value, hopLimit, serviceLevel, destinationLid, sourcePathBits,
        staticRate, sourceGid);
  }

  /**
   * Changes the hop limit.
   *
   * @param value 8 bits
   * @return a copy with it
   */
  public AhAttributes withHopLimit(int value) {
    return new AhAttributes(
        port, destinationGid, sgidIndex, flowLabel, trafficClass, value, serviceLevel, destinationLid, sourcePathBits,
        staticRate, sourceGid);
  }

  /**
   * Changes the service level.
   *
   * @param value 4 bits
   * @return a copy with it
   */
  public AhAttributes withServiceLevel(int value) {
    return new AhAttributes(
        port, destinationGid, sgidIndex, flowLabel, trafficClass, hopLimit, value, destinationLid, sourcePathBits,
        staticRate, sourceGid);
  }

  AhAttributes withSourceGid(GidEntry entry) {
    return new AhAttributes(
        port, destinationGid, sgidIndex, flowLabel, trafficClass, hopLimit, serviceLevel, destinationLid,
        sourcePathBits, staticRate, entry);
  }
}
