package org.rdma4j.ib.core.verbs;

/** Types of shared receive queues ({@code enum ib_srq_type}). */
public enum SrqType {
  /** For RC, UC and UD. */
  BASIC,
  /** For XRC targets. */
  XRC,
  /** Tag matching. */
  TM;

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }
}
