package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ProviderType;

/** Pieces of memory that the card sees under consecutive DMA addresses. Safe for any thread. */
@ProviderType
public interface DmaRange extends AutoCloseable {
  /** {@return DMA address of the first byte} */
  long address();

  /** {@return bytes of all pieces together} */
  long length();

  /** Takes the memory away from the card. Does nothing twice. */
  @Override
  void close();
}
