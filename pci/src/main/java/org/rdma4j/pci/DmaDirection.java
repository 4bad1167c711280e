package org.rdma4j.pci;

/** Who may write to mapped memory ({@code enum dma_data_direction}). */
public enum DmaDirection {
  /** Card and processor both write. */
  BIDIRECTIONAL,
  /** The card only reads. */
  TO_DEVICE,
  /** The card only writes. */
  FROM_DEVICE;

  /** {@return whether the card may read} */
  public boolean deviceReads() {
    return this != FROM_DEVICE;
  }

  /** {@return whether the card may write} */
  public boolean deviceWrites() {
    return this != TO_DEVICE;
  }
}
