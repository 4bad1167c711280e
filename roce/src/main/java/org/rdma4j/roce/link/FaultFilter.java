package org.rdma4j.roce.link;

import org.rdma4j.roce.address.Gid;

/**
 * Sees every fault that a {@link Fabric} may inject and has the last word, so that who looks for the cause of a failure
 * can list what happened, and repeat a part of it. Called under the fabric's lock.
 */
@FunctionalInterface
public interface FaultFilter {
  /**
   * Decides about one fault.
   *
   * @param source where the packet comes from
   * @param destination where it goes to
   * @param copy which packet of this direction: twice its number, counted from 0, and one more for the second copy of
   *     one that is doubled
   * @param fault what may happen to it
   * @param drawn whether plan and chance want it to happen
   * @return whether it happens
   */
  boolean happens(Gid source, Gid destination, long copy, FabricFault fault, boolean drawn);
}
