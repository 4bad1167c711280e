package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;

/**
 * The bytes of a memory region that was registered as one segment. Its owner may close the arena at any time: an access
 * then finds the memory gone, and the engine turns that into a protection error. So does a page of a mapped file that
 * is not there any more.
 */
final class SegmentMemory extends RegionMemory {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final ValueLayout.OfLong UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED;

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
      long at = address - start;
      if (isAligned(at)) {
        result[0] = (long) LONG.compareAndExchange(segment, at, compare, swap);
      } else {
        result[0] = segment.get(UNALIGNED, at);
        if (result[0] == compare) {
          segment.set(UNALIGNED, at, swap);
        }
      }
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    try {
      long at = address - start;
      if (isAligned(at)) {
        result[0] = (long) LONG.getAndAdd(segment, at, addend);
      } else {
        result[0] = segment.get(UNALIGNED, at);
        segment.set(UNALIGNED, at, result[0] + addend);
      }
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  private boolean isAligned(long at) {
    return ((segment.address() + at) & (Long.BYTES - 1)) == 0;
  }
}
