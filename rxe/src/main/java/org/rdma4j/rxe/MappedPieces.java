package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.MrMapping;

/** Pieces of memory in a row, reached by their common addresses; never changes, so that any thread may read it. */
final class MappedPieces {
  private final MemorySegment[] pieces;
  private final long[] ends; // of each piece, counted from the first byte of all
  private final long iova;
  private final long length;
  private final boolean readOnly;

  MappedPieces(MrMapping mapping) {
    pieces = mapping.pieces().toArray(MemorySegment[]::new);
    ends = new long[pieces.length];
    long end = 0;
    boolean locked = false;
    for (int i = 0; i < pieces.length; i++) {
      end += pieces[i].byteSize();
      ends[i] = end;
      locked |= pieces[i].isReadOnly();
    }
    iova = mapping.iova();
    length = end;
    readOnly = locked;
  }

  long iova() {
    return iova;
  }

  long length() {
    return length;
  }

  /** Whether a piece of it may not be written. */
  boolean isReadOnly() {
    return readOnly;
  }

  /** Copies between the memory and another segment, all or nothing of a piece at a time. */
  void copy(long address, MemorySegment other, long offset, int count, boolean out) {
    long position = address - iova;
    long at = offset;
    int left = count;
    for (int i = find(position); left > 0; i++) {
      long within = position - begin(i);
      int now = (int) Math.min(left, ends[i] - position);
      if (out) {
        MemorySegment.copy(pieces[i], within, other, at, now);
      } else {
        MemorySegment.copy(other, at, pieces[i], within, now);
      }
      position += now;
      at += now;
      left -= now;
    }
  }

  /** The piece that holds a whole number of some bytes, or null where they lie in two. */
  MemorySegment pieceOf(long address, int count) {
    long position = address - iova;
    int i = find(position);
    return ends[i] - position < count ? null : pieces[i];
  }

  /** Where an address lies in its piece. */
  long within(long address) {
    long position = address - iova;
    return position - begin(find(position));
  }

  private long begin(int piece) {
    return piece == 0 ? 0 : ends[piece - 1];
  }

  /** The piece of a position: the first that ends behind it. */
  private int find(long position) {
    int low = 0;
    int high = ends.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ends[middle] > position) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
