package org.rdma4j.ib.core.verbs;

/** What a device is on the fabric, with the kernel's numbers ({@code enum rdma_node_type}). */
public enum NodeType {
  /** Channel adapter. */
  CA(1, "InfiniBand channel adapter"),
  /** Switch. */
  SWITCH(2, "InfiniBand switch"),
  /** Router. */
  ROUTER(3, "InfiniBand router"),
  /** iWARP network interface. */
  RNIC(4, "iWARP NIC"),
  /** usNIC. */
  USNIC(5, "usNIC"),
  /** usNIC over UDP. */
  USNIC_UDP(6, "usNIC UDP"),
  /** Unspecified. */
  UNSPECIFIED(7, "unspecified");

  private final int number;
  private final String text;

  NodeType(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /** {@return what {@code ibv_node_type_str} says} */
  public String text() {
    return text;
  }
}
