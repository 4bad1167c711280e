package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/** Eight bytes of host memory, on a cache line of their own, where a queue publishes its counters ({@code mlx5_db}). */
@ProviderType
public interface DoorbellRecord extends AutoCloseable {
  /** {@return the page that the record is in; other records lie in it too} */
  MemorySegment segment();

  /** {@return offset of the record in {@link #segment}} */
  long offset();

  /** {@return DMA address of the record} */
  long address();

  /** Gives the record back. Does nothing twice. */
  @Override
  void close();
}
