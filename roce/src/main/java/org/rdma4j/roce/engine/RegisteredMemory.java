package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;

/**
 * Memory that a key stands for: a region, or a window on one. The engine checks key, protection domain, access and
 * range here; how the bytes are reached (a mapped segment, DMA through a bus) is the provider's. All of it belongs
 * to the engine thread.
 */
public abstract class RegisteredMemory {
  /** Access bit: the owner's receives and reads may write here ({@code IB_ACCESS_LOCAL_WRITE}). */
  public static final int LOCAL_WRITE = 1;
  /** Access bit: WRITE of a peer. */
  public static final int REMOTE_WRITE = 2;
  /** Access bit: READ of a peer. */
  public static final int REMOTE_READ = 4;
  /** Access bit: atomics of a peer. */
  public static final int REMOTE_ATOMIC = 8;
  /** Access bit: FLUSH of a peer for global visibility. */
  public static final int FLUSH_GLOBAL = 0x100;
  /** Access bit: FLUSH of a peer for persistence. */
  public static final int FLUSH_PERSISTENT = 0x200;

  /** Key for local access; 0 for a window, which has none. */
  protected int localKey;
  /** Key for remote access; 0 when no remote access was asked for. */
  protected int remoteKey;
  /** Number of the protection domain. */
  protected int protectionDomain;
  /** Sum of access bits. */
  protected int access;
  /** First address, as work requests and RETHs name it. */
  protected long start;
  /** Bytes, not negative. */
  protected long length;
  /** Whether the keys may be used now. */
  protected boolean valid;
  /** Only this queue pair may use the key (windows of type 2), or 0. */
  protected int boundQp;

  /** For subclasses. */
  protected RegisteredMemory() {}

  /**
   * Copies out of the memory.
   *
   * @param address first address, inside the range
   * @param target where to
   * @param offset offset there
   * @param count bytes
   * @return false when the memory is gone
   */
  public abstract boolean read(long address, MemorySegment target, long offset, int count);

  /**
   * Copies into the memory.
   *
   * @param address first address, inside the range
   * @param source where from
   * @param offset offset there
   * @param count bytes
   * @return false when the memory is gone
   */
  public abstract boolean write(long address, MemorySegment source, long offset, int count);

  /**
   * Swaps eight bytes, in the host's byte order, when they equal a value.
   *
   * @param address multiple of 8 inside the range
   * @param compare value to compare with
   * @param swap value to store when equal
   * @param result gets the value that was there
   * @return false when the memory is gone
   */
  public abstract boolean compareAndSwap(long address, long compare, long swap, long[] result);

  /**
   * Adds to eight bytes in the host's byte order.
   *
   * @param address multiple of 8 inside the range
   * @param addend value to add
   * @param result gets the value that was there
   * @return false when the memory is gone
   */
  public abstract boolean fetchAndAdd(long address, long addend, long[] result);

  /**
   * Writes eight bytes at once, as they lie in a packet: no reader ever sees a part of them.
   *
   * @param address multiple of 8 inside the range
   * @param source where from
   * @param offset offset there
   * @return false when the memory is gone
   */
  public abstract boolean atomicWrite(long address, MemorySegment source, long offset);

  /**
   * Makes what was written to the memory persistent. For global visibility nothing is asked of the memory: the engine
   * sees to it.
   *
   * @param address first address, inside the range
   * @param count bytes, not negative
   * @return false when the memory is gone or cannot be made persistent
   */
  public boolean persist(long address, long count) {
    return false;
  }

  /** First address, as work requests and RETHs name it. */
  final long firstAddress() {
    return start;
  }

  /** Bytes of the memory. */
  final long size() {
    return length;
  }

  final FailedCheck checkLocal(int key, int pd, boolean write, long address, long count) {
    if (key != localKey || localKey == 0 || !valid) {
      return FailedCheck.LOCAL_KEY;
    }
    if (pd != protectionDomain) {
      return FailedCheck.LOCAL_PROTECTION_DOMAIN;
    }
    if (write && (access & LOCAL_WRITE) == 0) {
      return FailedCheck.LOCAL_WRITE_ACCESS;
    }
    return covers(address, count) ? FailedCheck.NONE : FailedCheck.LOCAL_RANGE;
  }

  final FailedCheck checkRemote(int key, int pd, int qp, int wanted, long address, long count) {
    if (key != remoteKey || remoteKey == 0 || !valid || pd != protectionDomain || (boundQp != 0 && boundQp != qp)) {
      return FailedCheck.REMOTE_KEY;
    }
    if ((access & wanted) != wanted) {
      return FailedCheck.REMOTE_ACCESS;
    }
    return covers(address, count) ? FailedCheck.NONE : FailedCheck.REMOTE_RANGE;
  }

  /** Unsigned and safe against overflow: no sum of address and length is ever made. */
  private boolean covers(long address, long count) {
    return count >= 0 && count <= length && Long.compareUnsigned(address - start, length - count) <= 0;
  }
}
