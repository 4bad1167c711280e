package org.rdma4j.mlx5.core;

import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;

/** Pages of capabilities that the driver knows the fields of ({@code enum mlx5_cap_type}). */
public enum CapabilityType {
  /** What the function has at all. */
  GENERAL(0x00, "hca_cap"),
  /** On-demand paging. */
  ODP(0x02, "odp_cap"),
  /** Atomic operations. */
  ATOMIC(0x03, "atomic_cap"),
  /** RDMA over Ethernet. */
  ROCE(0x04, "roce_cap"),
  /** Flow tables of the NIC. */
  FLOW_TABLE(0x07, "flow_table_cap"),
  /** More of what the function has. */
  GENERAL_2(0x20, "hca_cap_2");

  private final int number;
  private final String layout;

  CapabilityType(int number, String layout) {
    this.number = number;
    this.layout = layout;
  }

  /** {@return the number of the page} */
  public int number() {
    return number;
  }

  /** {@return its fields} */
  public Layout layout() {
    return Layouts.of(layout);
  }
}
