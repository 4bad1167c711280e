package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.ib.core.verbs.MrMapping;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.rxe.ring.LocalOperands;

/**
 * A region made for fast registration (kernel: a {@code struct rxe_mr} of type MEM_REG), free or registered. What is
 * mapped waits for the next registration; what is registered stays as it is until it is invalidated.
 */
final class FastMemory extends RegionMemory {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final int name;
  private final MemorySegment eightBytes = MemorySegment.ofArray(new long[1]);
  private volatile MappedPieces mapped; // by the owner, for the engine
  private MappedPieces pieces; // registered

  FastMemory(int key, int domain) {
    name = key;
    localKey = key;
    remoteKey = key;
    protectionDomain = domain;
  }

  /** What names the region in registrations for as long as it lives: the key it was made with. */
  int name() {
    return name;
  }

  /** Any thread. */
  void map(MrMapping mapping) {
    mapped = new MappedPieces(mapping);
  }

  /**
   * Executes a registration ({@code rxe_mr.c:rxe_reg_fast_mr}). A failed one leaves the region as it was.
   *
   * @param request what is asked for
   * @param domain protection domain of the queue pair
   * @return {@link FailedCheck#NONE} when done
   */
  FailedCheck register(LocalOperands request, int domain) {
    if (request.regionKey != name
        || domain != protectionDomain
        || Rkeys.withTag(request.newKey, 0) != Rkeys.withTag(name, 0)) {
      return FailedCheck.REGISTER_REGION;
    }
    if (valid) {
      return FailedCheck.REGISTER_STATE;
    }
    MappedPieces next = mapped;
    boolean writes = (request.access & (LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC)) != 0;
    if (next == null || (writes && next.isReadOnly())) {
      return FailedCheck.REGISTER_MEMORY;
    }
    pieces = next;
    start = next.iova();
    length = next.length();
    access = request.access;
    localKey = request.newKey;
    remoteKey = remoteKey(request.newKey, access);
    valid = true;
    return FailedCheck.NONE;
  }

  /** Not while windows are bound to it; a region that is free stays so. */
  @Override
  boolean invalidate(int key, int domain, int qp) {
    if (key != (remoteKey == 0 ? localKey : remoteKey) || domain != protectionDomain || !windows().isEmpty()) {
      return false;
    }
    valid = false;
    pieces = null;
    return true;
  }

  /** On the thread of a poster, who may not be alone: everything comes from one look at what is registered. */
  @Override
  boolean readInline(int key, long address, MemorySegment target, long offset, int count) {
    MappedPieces now = pieces;
    if (now == null || key != localKey) {
      return false;
    }
    long position = address - now.iova();
    if (position < 0 || count > now.length() - position) {
      return false;
    }
    try {
      now.copy(address, target, offset, count, true);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    return copy(address, target, offset, count, true);
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    return copy(address, source, offset, count, false);
  }

  private boolean copy(long address, MemorySegment other, long offset, int count, boolean out) {
    try {
      pieces.copy(address, other, offset, count, out);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    MemorySegment piece = pieces.pieceOf(address, Long.BYTES);
    if (piece == null) {
      if (!read(address, eightBytes, 0, Long.BYTES)) {
        return false;
      }
      result[0] = eightBytes.get(LONG, 0);
      return result[0] != compare || writeEight(address, swap);
    }
    try {
      result[0] = SegmentAtomics.compareAndSwap(piece, pieces.within(address), compare, swap);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    MemorySegment piece = pieces.pieceOf(address, Long.BYTES);
    if (piece == null) {
      if (!read(address, eightBytes, 0, Long.BYTES)) {
        return false;
      }
      result[0] = eightBytes.get(LONG, 0);
      return writeEight(address, result[0] + addend);
    }
    try {
      result[0] = SegmentAtomics.fetchAndAdd(piece, pieces.within(address), addend);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    long value = source.get(LONG, offset);
    MemorySegment piece = pieces.pieceOf(address, Long.BYTES);
    if (piece == null) {
      return writeEight(address, value);
    }
    try {
      SegmentAtomics.set(piece, pieces.within(address), value);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  private boolean writeEight(long address, long value) {
    eightBytes.set(LONG, 0, value);
    return write(address, eightBytes, 0, Long.BYTES);
  }
}
