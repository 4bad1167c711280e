package org.rdma4j.ib.core.verbs;

import java.util.Set;

/** How far a flush goes, with the kernel's bits ({@code enum ib_placement_type}). */
public enum FlushPlacement {
  /** What was written is visible to every reader of the memory. */
  GLOBAL(1),
  /** What was written survives the loss of power. */
  PERSISTENT(2);

  private final int bit;

  FlushPlacement(int bit) {
    this.bit = bit;
  }

  /** {@return the kernel's bit} */
  public int bit() {
    return bit;
  }

  /**
   * Combines placements.
   *
   * @param placements the placements
   * @return the kernel's bits
   */
  public static int bits(Set<FlushPlacement> placements) {
    return (placements.contains(GLOBAL) ? GLOBAL.bit : 0) | (placements.contains(PERSISTENT) ? PERSISTENT.bit : 0);
  }
}
