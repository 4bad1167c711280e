package org.rdma4j.pci;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Pieces of memory that a driver has given to its card under consecutive DMA addresses, until it is closed ({@code
 * dma_map_sgtable}). Safe for any thread.
 */
@ProviderType
public interface DmaScatter extends AutoCloseable {
  /** {@return DMA address of the first byte} */
  long address();

  /** {@return bytes of all pieces together} */
  long length();

  /** Takes the memory away from the card. Does nothing twice. */
  @Override
  void close();
}
