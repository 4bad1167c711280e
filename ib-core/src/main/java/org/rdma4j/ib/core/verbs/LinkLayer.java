package org.rdma4j.ib.core.verbs;

/** Link layer of a port ({@code enum rdma_link_layer}). */
public enum LinkLayer {
  /** Not known. */
  UNSPECIFIED("Unspecified"),
  /** InfiniBand. */
  INFINIBAND("InfiniBand"),
  /** Ethernet. */
  ETHERNET("Ethernet");

  private final String text;

  LinkLayer(String text) {
    this.text = text;
  }

  /** {@return the text in sysfs and {@code ibv_devinfo}} */
  public String text() {
    return text;
  }
}
