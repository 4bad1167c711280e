package org.rdma4j.roce.simulation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.roce.engine.RegisteredMemory;

/** A memory region over a native segment, as a provider has it; belongs to the thread that drives the engine. */
public class SimMemory extends RegisteredMemory {
  /** Sum of all access bits. */
  public static final int ALL =
      LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL | FLUSH_PERSISTENT;

  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
  private static final ValueLayout.OfLong ANYWHERE = ValueLayout.JAVA_LONG_UNALIGNED;

  final MemorySegment segment;

  /**
   * Makes a region under one key for both sides.
   *
   * @param key local key, and remote key where a remote access is allowed
   * @param segment the memory; addresses are its own
   * @param pd number of the protection domain
   * @param access sum of access bits
   */
  public SimMemory(int key, MemorySegment segment, int pd, int access) {
    this(key, segment, segment.address(), pd, access);
  }

  /** With addresses of any kind. */
  SimMemory(int key, MemorySegment segment, long firstAddress, int pd, int access) {
    this.segment = segment;
    localKey = key;
    remoteKey = (access & ~LOCAL_WRITE) == 0 ? 0 : key;
    protectionDomain = pd;
    this.access = access;
    start = firstAddress;
    length = segment.byteSize();
    valid = true;
  }

  /** A part of this region for remote access alone, through one queue pair or, with 0, all. */
  final SimMemory part(int key, int offset, int bytes, int qp) {
    var part = new SimMemory(key, segment.asSlice(offset, bytes), address(offset), protectionDomain, ALL);
    part.localKey = 0;
    part.boundQp = qp;
    return part;
  }

  /** {@return the memory itself} */
  public final MemorySegment segment() {
    return segment;
  }

  /** {@return the key} */
  public final int key() {
    return localKey;
  }

  /**
   * {@return the address of a byte}
   *
   * @param offset bytes from the start of the region
   */
  public final long address(long offset) {
    return start + offset;
  }

  /** No access from now on. */
  public final void invalidate() {
    valid = false;
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    try {
      MemorySegment.copy(segment, address - start, target, offset, count);
      return true;
    } catch (IllegalStateException e) {
      return false; // The arena is closed.
    }
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    try {
      MemorySegment.copy(source, offset, segment, address - start, count);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    try {
      result[0] = (long) WORD.compareAndExchange(segment, address - start, compare, swap);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    try {
      result[0] = (long) WORD.getAndAdd(segment, address - start, addend);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    try {
      WORD.setVolatile(segment, address - start, source.get(ANYWHERE, offset));
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Nothing here outlives the process: persistent is what is written. */
  @Override
  public boolean persist(long address, long count) {
    return segment.scope().isAlive();
  }
}
