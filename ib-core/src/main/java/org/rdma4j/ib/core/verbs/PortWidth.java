package org.rdma4j.ib.core.verbs;

/** Lanes of a link with the kernel's numbers ({@code enum ib_port_width}). */
public enum PortWidth {
  /** One lane. */
  WIDTH_1X(1, 1),
  /** Two lanes. */
  WIDTH_2X(16, 2),
  /** Four lanes. */
  WIDTH_4X(2, 4),
  /** Eight lanes. */
  WIDTH_8X(4, 8),
  /** Twelve lanes. */
  WIDTH_12X(8, 12);

  private final int number;
  private final int lanes;

  PortWidth(int number, int lanes) {
    this.number = number;
    this.lanes = lanes;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /** {@return how many lanes} */
  public int lanes() {
    return lanes;
  }
}
