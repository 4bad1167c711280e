package org.rdma4j.pci;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Memory that a driver has given to its card, until it is closed ({@code dma_alloc_coherent}, {@code dma_map_single}).
 * An access of the card after that is a {@link DmaFault}. Safe for any thread.
 */
@ProviderType
public interface DmaMapping extends DmaWindow, AutoCloseable {
  /** Takes the memory away from the card, and frees it when it was allocated with the mapping. Does nothing twice. */
  @Override
  void close();
}
