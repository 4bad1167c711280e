package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.roce.simulation.SimMemory;

/** A memory region over a native segment that can have other addresses, be a window, and fail as none should. */
final class TestMemory extends SimMemory {
  final MemorySegment segment;
  /** Throws from the next access on, as no provider should. */
  boolean broken;
  /** Whether it can be made persistent. */
  boolean persistent = true;
  /** What was made persistent: offset and length. */
  final List<String> persisted = new ArrayList<>();

  TestMemory(int key, MemorySegment segment, int pd, int access) {
    super(key, segment, pd, access);
    this.segment = segment;
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

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    check();
    return super.read(address, target, offset, count);
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    check();
    return super.write(address, source, offset, count);
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    check();
    return super.compareAndSwap(address, compare, swap, result);
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    check();
    return super.fetchAndAdd(address, addend, result);
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    check();
    return super.atomicWrite(address, source, offset);
  }

  @Override
  public boolean persist(long address, long count) {
    check();
    persisted.add(address - start + "+" + count);
    return persistent && super.persist(address, count);
  }

  private void check() {
    if (broken) {
      throw new UnsupportedOperationException("broken memory");
    }
  }
}
