package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.pci.DmaMapping;

/** Memory for the card, by a mapping of the bus. */
record MappedBuffer(DmaMapping mapping) implements DmaBuffer {
  @Override
  public MemorySegment segment() {
    return mapping.segment();
  }

  @Override
  public long address() {
    return mapping.address();
  }

  @Override
  public void close() {
    mapping.close();
  }
}
