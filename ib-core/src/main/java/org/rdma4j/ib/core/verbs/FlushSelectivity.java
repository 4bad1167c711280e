package org.rdma4j.ib.core.verbs;

/** On what a flush works, with the kernel's numbers ({@code enum ib_selectivity_level}). */
public enum FlushSelectivity {
  /** The range named by address and length. */
  RANGE,
  /** The whole memory region or window of the key; address and length are not looked at. */
  MEMORY_REGION;

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }
}
