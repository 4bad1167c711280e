package org.rdma4j.rdma.cm.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * A piece of registered memory ({@code struct ibv_sge}). Safe for any thread; can be posted any number of times.
 *
 * @param address its address, as the region counts addresses
 * @param length bytes, unsigned 32 bits
 * @param lkey local key of the region
 */
public record Sge(long address, int length, int lkey) {
  private static final long MOST = 0xffffffffL;

  /**
   * A piece of a region, which may have any address of its own.
   *
   * @param piece memory of the region
   * @param region the region
   * @return the piece by the address it has in the region
   * @throws VerbsException EINVAL where the piece is not within the region, or longer than 2^32 - 1 bytes
   */
  public static Sge of(MemorySegment piece, MemoryRegion region) {
    return new Sge(addressOf(piece, region), lengthOf(piece), region.lkey());
  }

  static long addressOf(MemorySegment piece, MemoryRegion region) {
    MemorySegment memory = region.segment();
    long offset = memory == null ? -1 : piece.address() - memory.address();
    if (offset < 0 || offset > memory.byteSize() - piece.byteSize() || !piece.isNative()) {
      throw new VerbsException(Errno.EINVAL, piece + " is not within " + region + " of " + memory);
    }
    return region.address() + offset;
  }

  static int lengthOf(MemorySegment piece) {
    if (piece.byteSize() > MOST) {
      throw new VerbsException(
          Errno.EINVAL, piece.byteSize() + " bytes in one entry; the most is " + MOST);
    }
    return (int) piece.byteSize();
  }
}
