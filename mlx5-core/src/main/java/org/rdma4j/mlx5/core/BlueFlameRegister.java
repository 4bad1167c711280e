package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A send doorbell ({@code mlx5_sq_bfreg}). Its two halves are used alternately, so one thread rings at a time: its
 * users keep to that themselves. Ringing neither blocks nor allocates.
 */
@ProviderType
public interface BlueFlameRegister extends AutoCloseable {
  /** {@return the doorbell page, whose index goes into the queue's context} */
  UarPage page();

  /** {@return the longest work queue entry that can be written whole, in bytes} */
  int size();

  /**
   * Rings: the card fetches the entry itself.
   *
   * @param control first eight bytes of the control segment, the first byte highest
   */
  void ring(long control);

  /**
   * Rings and hands the entry over.
   *
   * @param queue memory with the entry
   * @param offset where the entry begins; it must not wrap
   * @param length bytes, a multiple of 64 up to {@link #size}
   */
  void ring(MemorySegment queue, long offset, int length);

  /** Gives the register back. Does nothing twice. */
  @Override
  void close();
}
