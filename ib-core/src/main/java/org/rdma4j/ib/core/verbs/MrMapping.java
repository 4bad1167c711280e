package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Pieces of memory that one key makes a whole ({@code verbs.c:ib_sg_to_pages}). Every piece but the first begins at a
 * page boundary and every one but the last ends at one, unless it goes on in memory where the piece before it ended.
 *
 * @param pieces the pieces, in order; none is empty
 * @param iova the address of the first byte for work requests and peers
 * @param length bytes of all pieces together
 * @param pageSize bytes of a page, a power of two
 */
public record MrMapping(List<MemorySegment> pieces, long iova, long length, int pageSize) {
  /** Copies the list. */
  public MrMapping {
    pieces = List.copyOf(pieces);
  }

  /** What {@link #of} found. */
  record Result(MrMapping mapping, int elements) {}

  /**
   * Takes as many pieces as can be one region.
   *
   * @param pieces the pieces, each native memory
   * @param offset where to begin in the first, below its length
   * @param pageSize bytes of a page, a power of two
   * @param maxPages pages there is room for, 1 or more
   */
  static Result of(List<MemorySegment> pieces, long offset, int pageSize, int maxPages) {
    List<MemorySegment> taken = new ArrayList<>(pieces.size());
    long inPage = pageSize - 1L;
    long room = maxPages;
    long length = 0;
    long end = 0;
    int elements = 0;
    for (MemorySegment each : pieces) {
      MemorySegment piece = taken.isEmpty() ? each.asSlice(offset) : each;
      long from = piece.address();
      if (!taken.isEmpty() && ((from | end) & inPage) != 0 && from != end) {
        break;
      }
      long page = from & ~inPage;
      if (!taken.isEmpty() && page < from) {
        page += pageSize; // It shares its first page with the piece before.
      }
      long touched = Math.max(0, from + piece.byteSize() - page + inPage) / pageSize;
      if (touched > room) {
        long part = page + room * pageSize - from;
        if (part > 0) {
          taken.add(piece.asSlice(0, part));
          length += part;
        }
        break;
      }
      taken.add(piece);
      room -= touched;
      length += piece.byteSize();
      end = from + piece.byteSize();
      elements++;
    }
    return new Result(new MrMapping(taken, taken.getFirst().address(), length, pageSize), elements);
  }
}
