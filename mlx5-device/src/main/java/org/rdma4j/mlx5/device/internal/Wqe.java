package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.engine.SendWork;

/**
 * What the card keeps of a work queue entry until it is complete, where the engine's own fields are not enough: inline
 * data, or the segments of a local operation. One for each place in the engine's queue, used again and again.
 */
final class Wqe {
  /** Largest entry: 63 segments of 16 bytes, and one more to fill the last block. */
  static final int BYTES = Limits.MAX_WQE_BYTES;

  /** Nothing is done. */
  static final int NOP = 0;
  /** The context or the translations of a memory key change. */
  static final int UMR = 1;

  final MemorySegment memory = Arena.ofAuto().allocate(BYTES, Long.BYTES);
  int kind;
  int length;

  private Wqe() {}

  /** That of a request; made when it is needed for the first time. */
  static Wqe of(SendWork work) {
    if (work.local instanceof Wqe found) {
      return found;
    }
    Wqe made = new Wqe();
    work.local = made;
    return made;
  }
}
