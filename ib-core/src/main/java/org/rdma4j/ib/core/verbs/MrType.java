package org.rdma4j.ib.core.verbs;

/** Types of memory regions, with the kernel's numbers ({@code enum ib_mr_type}). */
public enum MrType {
  /** Made without memory, which is mapped and registered by work requests as often as wanted. */
  MEM_REG(0),
  /** Registered once, with its memory. */
  USER(3);

  private final int number;

  MrType(int number) {
    this.number = number;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }
}
