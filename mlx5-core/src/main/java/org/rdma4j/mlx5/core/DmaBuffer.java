package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Memory that the card may use, under consecutive DMA addresses ({@code mlx5_frag_buf}). Safe for any thread; contents
 * are its user's business.
 */
@ProviderType
public interface DmaBuffer extends AutoCloseable {
  /** Bytes of a page in lists of page addresses. */
  int PAGE = 4096;

  /** {@return the memory} */
  MemorySegment segment();

  /** {@return DMA address of the first byte} */
  long address();

  /** {@return pages that it touches} */
  default int pages() {
    return (int) (((address() & (PAGE - 1)) + segment().byteSize() + PAGE - 1) / PAGE);
  }

  /**
   * Writes the addresses of its pages into the list of a command ({@code mlx5_fill_page_frag_array}).
   *
   * @param request a command with a list of at least {@link #pages} entries from there
   * @param first index of the first entry
   * @param flags low bits of each entry: 0 for queues, 3 for translations that are read and written
   */
  default void listPages(CommandRequest request, int first, int flags) {
    long page = address() & -PAGE;
    for (int i = 0; i < pages(); i++) {
      request.list(first + i, page + (long) i * PAGE | flags);
    }
  }

  /** Takes the memory away from the card, and frees it when it was allocated here. Does nothing twice. */
  @Override
  void close();
}
