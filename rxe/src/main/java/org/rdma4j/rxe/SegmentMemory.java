package org.rdma4j.rxe;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * The bytes of a memory region that was registered as one segment. Its owner may close the arena at any time: an access
 * then finds the memory gone, and the engine turns that into a protection error. So does a page of a mapped file that
 * is not there any more.
 */
final class SegmentMemory extends RegionMemory {
  private final MemorySegment segment;

  SegmentMemory(MemorySegment segment, long iova, int key, int domain, Set<Access> rights) {
    this.segment = segment;
    localKey = key;
    access = Access.bits(rights);
    remoteKey = remoteKey(key, access);
    protectionDomain = domain;
    start = iova;
    length = segment.byteSize();
    valid = true;
  }

  /**
   * What the rights ask of the memory ({@code rxe_mr.c:rxe_mr_init_user}, where it must be persistent memory).
   *
   * @throws VerbsException EINVAL for FLUSH_PERSISTENT on memory that is not a mapped file
   */
  static void checkRights(MemorySegment segment, Set<Access> rights) {
    if (rights.contains(Access.FLUSH_PERSISTENT) && !segment.isMapped()) {
      throw new VerbsException(
          Errno.EINVAL, "FLUSH_PERSISTENT needs memory mapped from a file, which alone can be made persistent");
    }
  }

  /** Only regions made for fast registration may be invalidated. */
  @Override
  boolean invalidate(int key, int domain, int qp) {
    return false;
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    try {
      MemorySegment.copy(segment, address - start, target, offset, count);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    try {
      MemorySegment.copy(source, offset, segment, address - start, count);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    try {
      result[0] = SegmentAtomics.compareAndSwap(segment, address - start, compare, swap);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    try {
      result[0] = SegmentAtomics.fetchAndAdd(segment, address - start, addend);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    try {
      SegmentAtomics.set(segment, address - start, source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  /** Of a mapped file; where the file is not of persistent memory, this waits for its disk. */
  @Override
  public boolean persist(long address, long count) {
    try {
      if (count > 0) {
        segment.asSlice(address - start, count).force();
      }
      return true;
    } catch (IllegalStateException | UnsupportedOperationException | UncheckedIOException | InternalError e) {
      return false;
    }
  }
}
