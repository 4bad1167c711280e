package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DmaRange;

/**
 * Memory that is mapped to a region for fast registration, and the list of its pages for the card (kernel: the
 * descriptors of {@code struct mlx5_ib_mr}). It lives as long as the card may look at one of both: while a registration
 * of it is posted, while it is what is registered, and while it is what the next registration takes.
 */
final class FastMapping implements LocalWork {
  private static final int CLOSED = -1;
  private static final int READ = 1;
  private static final int WRITE = 2;

  private final IbFastRegion region;
  private final MrMapping memory;
  private final DmaRange mapping;
  private final DmaBuffer list;
  private final int logPage;
  private final int pages;
  private final boolean readOnly;
  private final AtomicInteger posted = new AtomicInteger();

  /**
   * Writes the list.
   *
   * @param list room for the pages of the region
   */
  FastMapping(IbFastRegion region, MrMapping memory, DmaRange mapping, DmaBuffer list, boolean readOnly) {
    this.region = region;
    this.memory = memory;
    this.mapping = mapping;
    this.list = list;
    this.readOnly = readOnly;
    this.logPage = Sizes.log(memory.pageSize());
    long mask = memory.pageSize() - 1L;
    this.pages = (int) (((memory.iova() & mask) + memory.length() + mask) >>> logPage);
    long first = mapping.address() & ~mask;
    MemorySegment entries = list.segment();
    entries.fill((byte) 0);
    for (int i = 0; i < pages; i++) {
      long page = first + ((long) i << logPage) | READ | (readOnly ? 0 : WRITE);
      entries.set(BigEndian.LONG, (long) i * Long.BYTES, page);
    }
  }

  int pages() {
    return pages;
  }

  int logPage() {
    return logPage;
  }

  long iova() {
    return memory.iova();
  }

  long length() {
    return memory.length();
  }

  boolean isReadOnly() {
    return readOnly;
  }

  MemorySegment list() {
    return list.segment();
  }

  long listAddress() {
    return list.address();
  }

  /** A registration of it is posted; false when it is gone. */
  boolean use() {
    int now = posted.get();
    while (now != CLOSED && !posted.compareAndSet(now, now + 1)) {
      now = posted.get();
    }
    return now != CLOSED;
  }

  @Override
  public void done(int key, boolean success) {
    if (success) {
      region.registered(this);
    }
    posted.decrementAndGet();
  }

  /** Ends it unless a registration of it is posted; {@return its list when it has ended} */
  DmaBuffer closeIfIdle() {
    return posted.compareAndSet(0, CLOSED) ? end() : null;
  }

  /** Ends it, whatever is posted: the key is gone. {@return its list} */
  DmaBuffer close() {
    posted.set(CLOSED);
    return end();
  }

  private DmaBuffer end() {
    mapping.close();
    return list;
  }

  /** Copies into the send queue what a request with inline data names; false when it is not inside. */
  boolean inline(SendQueue queue, long address, int count) {
    long place = address - memory.iova();
    if (place < 0 || count > memory.length() - place) {
      return false;
    }
    int left = count;
    for (int i = 0; i < memory.pieces().size() && left > 0; i++) {
      MemorySegment piece = memory.pieces().get(i);
      if (place >= piece.byteSize()) {
        place -= piece.byteSize();
        continue;
      }
      int now = (int) Math.min(left, piece.byteSize() - place);
      queue.inline(piece, place, now);
      left -= now;
      place = 0;
    }
    return true;
  }
}
