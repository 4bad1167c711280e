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
  private volatile ReceiveRing receives;

  ReceivePosting(VerbsObject owner, ReceiveRing receives) {
    this.owner = owner;
    this.receives = receives;
  }

  /** The ring that is posted to. */
  ReceiveRing receives() {
    return receives;
  }

  /** From now on another ring is posted to; the old one is closed after this. */
  void replace(ReceiveRing next) {
    receives = next;
  }

  /** Writes and publishes; the engine takes receives when it needs them, so it is not told. */
  void post(ReceiveWorkRequest chain) {
    ReceiveRing target = lock(chain);
    WorkRing ring = target.ring();
    try {
      for (ReceiveWorkRequest wr = chain; wr != null; wr = wr.next()) {
        write(wr, target);
        ring.advance();
      }
    } finally {
      if (ring.hasUnpublished()) {
        ring.publish();
      }
      ring.unlock();
    }
  }

  private ReceiveRing lock(ReceiveWorkRequest chain) {
    ReceiveRing target = receives;
    while (!target.ring().lock()) {
      ReceiveRing now = receives;
      if (now == target) {
        throw new PostException(Errno.EIO, owner + ": the device was removed or the queue destroyed", chain);
      }
      target = now;
    }
    return target;
  }

  private void write(ReceiveWorkRequest wr, ReceiveRing target) {
    if (wr.sgeCount() > target.maxSge()) {
      throw refusal(
          Errno.EINVAL, "it has " + wr.sgeCount() + " buffers; max_sge of the receive queue is " + target.maxSge(), wr);
    }
    long slot = target.ring().nextSlot();
    if (slot < 0) {
      throw refusal(Errno.ENOMEM, "the receive queue is full: it holds " + target.ring().capacity() + " requests", wr);
    }
    target.write(slot, wr);
  }

  PostException refusal(Errno errno, String fault, ReceiveWorkRequest wr) {
    return new PostException(errno, "post_recv of wr_id " + wr.wrId() + " to " + owner + ": " + fault, wr);
  }
}
