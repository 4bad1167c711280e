package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.rxe.ring.LocalOperands;

/** A memory region as the engine sees it: its keys, and the windows that are bound to it. */
abstract class RegionMemory extends KeyedMemory {
  private final WindowList windows = new WindowList(WindowList.OF_REGION);

  /** The windows that are bound to the region. */
  final WindowList windows() {
    return windows;
  }

  /** The remote key is the local one, or 0 where no peer has rights ({@code rxe_mr.c}). */
  static int remoteKey(int key, int rights) {
    return (rights & REMOTE) != 0 ? key : 0;
  }

  static int remoteKey(int key, Set<Access> rights) {
    return remoteKey(key, Access.bits(rights));
  }

  /**
   * What a window needs of its region (IBA specification C10-72 to C10-75, o10-37.2.30; {@code
   * rxe_mw.c:rxe_check_bind_mw}). Other than the kernel this also compares protection domains, and the range of a zero
   * based window.
   */
  final FailedCheck checkBind(LocalOperands bind, int domain) {
    if (bind.regionKey != localKey || !valid || (access & ZERO_BASED) != 0) {
      return FailedCheck.BIND_REGION;
    }
    if (domain != protectionDomain) {
      return FailedCheck.BIND_PROTECTION_DOMAIN;
    }
    boolean writes = (bind.access & (REMOTE_WRITE | REMOTE_ATOMIC)) != 0;
    boolean flushes = (bind.access & FLUSH & ~access) == 0; // What the region cannot do its window cannot either.
    if ((access & MW_BIND) == 0 || (writes && (access & LOCAL_WRITE) == 0) || !flushes) {
      return FailedCheck.BIND_ACCESS;
    }
    boolean inside =
        bind.length >= 0
            && bind.length <= length
            && Long.compareUnsigned(bind.address - start, length - bind.length) <= 0;
    return inside ? FailedCheck.NONE : FailedCheck.BIND_RANGE;
  }

  /**
   * Copies out for a poster of inline data, on its thread; false where the key, the range or the memory does not fit.
   */
  boolean readInline(int key, long address, MemorySegment target, long offset, int count) {
    long position = address - start;
    return key == localKey && position >= 0 && count <= length - position && read(address, target, offset, count);
  }
}
