package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.Mlx5Device;

/**
 * Memory of completion entries, none of them written yet.
 *
 * @param buffer the memory
 * @param logSize log2 of how many entries it has
 */
record CompletionRoom(DmaBuffer buffer, int logSize) implements AutoCloseable {
  /** The logarithm of so many entries and at least one more. */
  static int logSize(int least) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(least);
  }

  static CompletionRoom allocate(Mlx5Device core, int logSize) {
    DmaBuffer buffer = Errors.translated(() -> core.allocate((long) CompletionEntry.BYTES << logSize));
    CompletionEntry.initialize(buffer.segment());
    return new CompletionRoom(buffer, logSize);
  }

  MemorySegment entries() {
    return buffer.segment();
  }

  /** Where an entry lies, by its number since the beginning of the queue. */
  long place(int index) {
    return (long) (index & (1 << logSize) - 1) * CompletionEntry.BYTES;
  }

  @Override
  public void close() {
    buffer.close();
  }
}
