package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.rxe.ring.LocalOperands;

/**
 * A memory window as the engine sees it (kernel: {@code struct rxe_mw}): a part of a region under a key of its own. One
 * of type 2 serves only the queue pair that bound it, and is bound only while it is free.
 */
final class WindowMemory extends KeyedMemory {
  /** Neighbours in the lists the window is in, see {@link WindowList}. */
  final WindowMemory[] next = new WindowMemory[2];

  final WindowMemory[] previous = new WindowMemory[2];

  private final int name;
  private final boolean reusable;
  private RxeMemoryWindow owner;
  private RegionMemory region; // null: not bound
  private WindowList ofQueuePair; // null: not bound to one
  private long origin;

  /**
   * Makes a window that is not bound.
   *
   * @param key its key, whose lower 8 bits change with every bind
   * @param domain number of the protection domain
   * @param type its type
   */
  WindowMemory(int key, int domain, MwType type) {
    name = key;
    reusable = type == MwType.TYPE_2;
    remoteKey = key;
    protectionDomain = domain;
  }

  void owner(RxeMemoryWindow window) {
    owner = window;
  }

  String label() {
    return owner.label();
  }

  /** What names the window in binds for as long as it lives: the key it was allocated with. */
  int name() {
    return name;
  }

  /** The key of the last bind that was executed; any thread, a poller of the completion sees the new one. */
  int key() {
    return remoteKey;
  }

  /**
   * Executes a bind. A failed one leaves the window as it was ({@code rxe_mw.c:rxe_bind_mw}).
   *
   * @param bind what is asked for
   * @param target the region its key may stand for, or null
   * @param domain protection domain of the queue pair
   * @param qp its number
   * @param bound its windows
   * @return {@link FailedCheck#NONE} when done
   */
  FailedCheck bind(LocalOperands bind, RegionMemory target, int domain, int qp, WindowList bound) {
    if (bind.windowKey != name && bind.windowKey != remoteKey) {
      return FailedCheck.BIND_WINDOW;
    }
    boolean zeroBased = (bind.access & ZERO_BASED) != 0;
    if ((bind.access & ~(REMOTE | ZERO_BASED)) != 0 || (zeroBased && !reusable)) {
      return FailedCheck.WORK_REQUEST; // IBA specification o10-36.2.2.
    }
    if (domain != protectionDomain) {
      return FailedCheck.BIND_PROTECTION_DOMAIN;
    }
    if (reusable && region != null) {
      return FailedCheck.BIND_STATE;
    }
    FailedCheck check = checkRegion(bind, target);
    if (check != FailedCheck.NONE) {
      return check;
    }
    unbind();
    remoteKey = Rkeys.withTag(remoteKey, bind.newKey);
    if (bind.length != 0) {
      attach(bind, target, zeroBased);
      if (reusable) {
        boundQp = qp;
        ofQueuePair = bound;
        bound.add(this);
      }
    }
    return FailedCheck.NONE;
  }

  private FailedCheck checkRegion(LocalOperands bind, RegionMemory target) {
    if (bind.length == 0) {
      return reusable ? FailedCheck.BIND_REGION : FailedCheck.NONE; // IBA specification o10-37.2.40.
    }
    return target == null ? FailedCheck.BIND_REGION : target.checkBind(bind, protectionDomain);
  }

  private void attach(LocalOperands bind, RegionMemory target, boolean zeroBased) {
    region = target;
    origin = bind.address;
    start = zeroBased ? 0 : bind.address;
    length = bind.length;
    access = bind.access & REMOTE;
    valid = true;
    target.windows().add(this);
  }

  /** Takes the rights away; does nothing where there are none. */
  void unbind() {
    if (region == null) {
      return;
    }
    region.windows().remove(this);
    region = null;
    if (ofQueuePair != null) {
      ofQueuePair.remove(this);
      ofQueuePair = null;
    }
    boundQp = 0;
    length = 0;
    access = 0;
    valid = false;
  }

  /** Type 2 only, and while it is bound only through its queue pair. */
  @Override
  boolean invalidate(int key, int domain, int qp) {
    if (!reusable || key != remoteKey || domain != protectionDomain || (region != null && boundQp != qp)) {
      return false;
    }
    unbind();
    return true;
  }

  @Override
  public boolean read(long address, MemorySegment target, long offset, int count) {
    return region.read(address - start + origin, target, offset, count);
  }

  @Override
  public boolean write(long address, MemorySegment source, long offset, int count) {
    return region.write(address - start + origin, source, offset, count);
  }

  @Override
  public boolean compareAndSwap(long address, long compare, long swap, long[] result) {
    return region.compareAndSwap(address - start + origin, compare, swap, result);
  }

  @Override
  public boolean fetchAndAdd(long address, long addend, long[] result) {
    return region.fetchAndAdd(address - start + origin, addend, result);
  }

  @Override
  public boolean atomicWrite(long address, MemorySegment source, long offset) {
    return region.atomicWrite(address - start + origin, source, offset);
  }

  @Override
  public boolean persist(long address, long count) {
    return region.persist(address - start + origin, count);
  }
}
