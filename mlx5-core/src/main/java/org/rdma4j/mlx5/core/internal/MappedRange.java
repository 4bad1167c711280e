package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.core.DmaRange;
import org.rdma4j.pci.DmaScatter;

/** Pieces of memory for the card, by a mapping of the bus. */
record MappedRange(DmaScatter mapping) implements DmaRange {
  @Override
  public long address() {
    return mapping.address();
  }

  @Override
  public long length() {
    return mapping.length();
  }

  @Override
  public void close() {
    mapping.close();
  }
}
