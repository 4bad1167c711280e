package org.rdma4j.ib.core.verbs;

/** Types of memory windows, with the kernel's numbers ({@code enum ib_mw_type}). */
public enum MwType {
  /** Bound by a call on the window; any queue pair of the protection domain serves it. */
  TYPE_1(1),
  /** Bound by a work request to the queue pair that the request was posted to, and invalidated before the next bind. */
  TYPE_2(2);

  private final int number;

  MwType(int number) {
    this.number = number;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }
}
