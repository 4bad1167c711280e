package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** A memory region over a native segment, as a provider has it. */
final class TestMemory extends RegisteredMemory {
  static final int ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  final MemorySegment segment;
  /** Throws from the next access on, as no provider should. */
  boolean broken;

  TestMemory(int key, MemorySegment segment, int pd, int access) {
    this.segment = segment;
    localKey = key;
    remoteKey = (access & ~LOCAL_WRITE) == 0 ? 0 : key;
    protectionDomain = pd;
    this.access = access;
    start = segment.address();
    length = segment.byteSize();
    valid = true;
  }

  int key() {
    return localKey;
  }

  long address(long offset) {
    return start + offset;
  }

  /** Names the memory by other addresses than its own. */
  TestMemory at(long iova) {
    start = iova;
    return this;
  }

  /** As a window of type 2 bound by one queue pair. */
  TestMemory bind(int qp) {
    boundQp = qp;
    return this;
  }

  void invalidate() {
    valid = false;
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    try {
      check();
      MemorySegment.copy(segment, address - start, target, offset, count);
      return true;
    } catch (IllegalStateException e) {
      return false; // The arena is closed.
    }
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    try {
      check();
      MemorySegment.copy(source, offset, segment, address - start, count);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    try {
      check();
      result[0] = (long) WORD.compareAndExchange(segment, address - start, compare, swap);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    try {
      check();
      result[0] = (long) WORD.getAndAdd(segment, address - start, addend);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private void check() {
    if (broken) {
      throw new UnsupportedOperationException("broken memory");
    }
  }
}
