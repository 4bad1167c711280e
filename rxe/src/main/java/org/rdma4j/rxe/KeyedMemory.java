package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.roce.engine.RegisteredMemory;

/** What a key of the device stands for. All of it belongs to the engine's thread. */
abstract class KeyedMemory extends RegisteredMemory {
  static final int FLUSH = FLUSH_GLOBAL | FLUSH_PERSISTENT;
  static final int REMOTE = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH;
  static final int MW_BIND = Access.MW_BIND.bit();
  static final int ZERO_BASED = Access.ZERO_BASED.bit();

  /**
   * Takes the rights from the key, at the request of its owner or of a peer ({@code rxe_mr.c:rxe_invalidate_mr}, {@code
   * rxe_mw.c:rxe_invalidate_mw}).
   *
   * @param key the whole key
   * @param domain protection domain of the queue pair that asks
   * @param qp its number
   * @return false where the key is another one, belongs to somebody else, is in use, or may not be invalidated
   */
  abstract boolean invalidate(int key, int domain, int qp);
}
