package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.roce.engine.RegisteredMemory;

/**
 * The bytes of a memory region. Its owner may close the arena at any time: an access then finds the memory gone, and
 * the engine turns that into a protection error. So does a page of a mapped file that is not there any more.
 */
final class RegionMemory extends RegisteredMemory {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final ValueLayout.OfLong UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final int REMOTE = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

  private final MemorySegment segment;
  private final boolean aligned;

  RegionMemory(MemorySegment segment, long iova, int key, int domain, Set<Access> rights) {
    this.segment = segment;
    this.aligned = ((segment.address() ^ iova) & (Long.BYTES - 1)) == 0;
    localKey = key;
    access = Access.bits(rights);
    remoteKey = remoteKey(key, rights);
    protectionDomain = domain;
    start = iova;
    length = segment.byteSize();
    valid = true;
  }

  /** The remote key is the local one, or 0 where no peer has rights ({@code rxe_mr.c}). */
  static int remoteKey(int key, Set<Access> rights) {
    return (Access.bits(rights) & REMOTE) != 0 ? key : 0;
  }

  /**
   * Copies out for a poster of inline data, on its thread; false where the key, the range or the memory does not fit.
   */
  boolean readInline(int key, long address, MemorySegment target, long offset, int count) {
    long position = address - start;
    return key == localKey && position >= 0 && count <= length - position && read(address, target, offset, count);
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
      if (aligned) {
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
      if (aligned) {
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
}
