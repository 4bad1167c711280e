package org.rdma4j.ib.core.verbs;

/** What a GID stands for on the wire, with the kernel's numbers ({@code enum ib_gid_type}). */
public enum GidType {
  /** InfiniBand. */
  IB("IB/RoCE v1"),
  /** RoCE version 1. */
  ROCE_V1("IB/RoCE v1"),
  /** RoCE version 2. */
  ROCE_V2("RoCE v2");

  private final String text;

  GidType(String text) {
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return the text in sysfs' {@code gid_attrs/types}} */
  public String text() {
    return text;
  }
}
