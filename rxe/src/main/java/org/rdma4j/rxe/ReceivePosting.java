package org.rdma4j.rxe;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.rxe.ring.ReceiveRing;
import org.rdma4j.rxe.ring.WorkRing;

/** Posting of chains of receives, to a queue pair or a shared queue (kernel: {@code rxe_verbs.c:post_one_recv}). */
final class ReceivePosting {
  private final VerbsObject owner;
  private final ReceiveRing receives;
  private final WorkRing ring;

  ReceivePosting(VerbsObject owner, ReceiveRing receives) {
    this.owner = owner;
    this.receives = receives;
    this.ring = receives.ring();
  }

  /** Writes and publishes; the engine takes receives when it needs them, so it is not told. */
  void post(ReceiveWorkRequest chain) {
    if (!ring.lock()) {
      throw new PostException(Errno.EIO, owner + ": the device was removed or the queue destroyed", chain);
    }
    try {
      for (ReceiveWorkRequest wr = chain; wr != null; wr = wr.next()) {
        write(wr);
        ring.advance();
      }
    } finally {
      if (ring.hasUnpublished()) {
        ring.publish();
      }
      ring.unlock();
    }
  }

  private void write(ReceiveWorkRequest wr) {
    if (wr.sgeCount() > receives.maxSge()) {
      throw refusal(
          Errno.EINVAL, "it has " + wr.sgeCount() + " buffers; the queue takes " + receives.maxSge() + " of each", wr);
    }
    long slot = ring.nextSlot();
    if (slot < 0) {
      throw refusal(Errno.ENOMEM, "the receive queue is full: it holds " + ring.capacity() + " requests", wr);
    }
    receives.write(slot, wr);
  }

  PostException refusal(Errno errno, String fault, ReceiveWorkRequest wr) {
    return new PostException(errno, "post_recv of wr_id " + wr.wrId() + " to " + owner + ": " + fault, wr);
  }
}
