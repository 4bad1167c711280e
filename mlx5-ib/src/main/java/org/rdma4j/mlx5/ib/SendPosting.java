package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Posting of chains of sends: checked, written in place, and one ring of the doorbell for the chain. */
final class SendPosting {
  private final IbQueuePair qp;
  private final SendQueue queue;
  private final SendRules rules;

  SendPosting(IbQueuePair qp, SendQueue queue, SendRules rules) {
    this.qp = qp;
    this.queue = queue;
    this.rules = rules;
  }

  void post(SendWorkRequest chain) {
    if (!queue.lock().lock()) {
      throw new PostException(Errno.EIO, qp + ": the device was removed or the queue pair destroyed", chain);
    }
    try {
      for (SendWorkRequest wr = chain; wr != null; wr = wr.next()) {
        write(wr);
      }
    } finally {
      queue.publish();
      queue.lock().unlock();
    }
  }

  private void write(SendWorkRequest wr) {
    String fault = rules.check(qp.state(), wr);
    if (fault != null) {
      throw refusal(Errno.EINVAL, fault, wr);
    }
    if (queue.isFull()) {
      throw refusal(Errno.ENOMEM, "the send queue is full: it holds " + queue.maxPosted() + " requests", wr);
    }
    WrOpcode opcode = wr.opcode();
    queue.begin();
    if (rules.isDatagram()) {
      queue.skipDatagram();
      queue.datagram((IbAddressHandle) wr.ah(), wr.remoteQpn(), wr.remoteQkey());
    } else if (rules.isExtended()) {
      queue.skipXrc();
      queue.xrc(wr.xrcSrqNumber());
    }
    int immediate = 0;
    switch (opcode) {
      case RDMA_WRITE, RDMA_READ -> queue.remote(wr.remoteAddress(), wr.rkey());
      case RDMA_WRITE_WITH_IMM -> {
        queue.remote(wr.remoteAddress(), wr.rkey());
        immediate = wr.immediate();
      }
      case ATOMIC_CMP_AND_SWP -> {
        queue.remote(wr.remoteAddress(), wr.rkey());
        queue.atomic(wr.swap(), wr.compareAdd());
      }
      case ATOMIC_FETCH_AND_ADD -> {
        queue.remote(wr.remoteAddress(), wr.rkey());
        queue.atomic(wr.compareAdd(), 0);
      }
      default -> immediate = opcode == WrOpcode.SEND ? 0 : wr.immediate();
    }
    if (wr.inlineData() != null) {
      copyInline(wr);
    } else if ((wr.flags() & SendFlag.INLINE) != 0) {
      gatherInline(wr);
    } else {
      for (int i = 0; i < wr.sgeCount(); i++) {
        queue.data(wr.sgeAddress(i), wr.sgeLength(i), wr.sgeLkey(i));
      }
    }
    queue.end(wr.wrId(), SendRules.number(opcode), wr.flags(), immediate, SendRules.completion(opcode));
  }

  private void copyInline(SendWorkRequest wr) {
    MemorySegment data = wr.inlineData();
    try {
      queue.inlineHead((int) data.byteSize());
      queue.inline(data, 0, (int) data.byteSize());
    } catch (IllegalStateException | WrongThreadException e) {
      throw refusal(Errno.EFAULT, "the inline data cannot be read: " + e.getMessage(), wr);
    }
  }

  /** Inline data by address and key: only registered memory is read, since an address alone cannot be trusted. */
  private void gatherInline(SendWorkRequest wr) {
    queue.inlineHead((int) SendRules.length(wr));
    for (int i = 0; i < wr.sgeCount(); i++) {
      int length = wr.sgeLength(i);
      if (length == 0) {
        continue;
      }
      IbMemoryRegion region = IbMemoryRegion.find(rules.device(), wr.sgeLkey(i));
      long offset = region == null ? -1 : wr.sgeAddress(i) - region.address();
      if (region == null || offset < 0 || length > region.length() - offset) {
        throw unreadable(i, wr);
      }
      try {
        queue.inline(region.segment(), offset, length);
      } catch (IllegalStateException e) {
        throw unreadable(i, wr);
      }
    }
  }

  private PostException unreadable(int buffer, SendWorkRequest wr) {
    return refusal(
        Errno.EFAULT,
        "inline buffer " + buffer + " is not inside the memory region of its lkey; memory that is not registered goes"
            + " into inlineData()",
        wr);
  }

  private PostException refusal(Errno errno, String fault, SendWorkRequest wr) {
    String what = "post_send of " + wr.opcode() + " wr_id " + wr.wrId() + " to " + qp;
    return new PostException(errno, what + ": " + fault, wr);
  }
}
