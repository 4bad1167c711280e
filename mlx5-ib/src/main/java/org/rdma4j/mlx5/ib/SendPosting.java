package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Posting of chains of sends: checked, written in place, and one ring of the doorbell for the chain. */
final class SendPosting {
  private final IbQueuePair qp;
  private final SendQueue queue;
  private final SendRules rules;
  private final UmrPosting keys;

  SendPosting(IbQueuePair qp, SendQueue queue, SendRules rules, UmrPosting keys) {
    this.qp = qp;
    this.queue = queue;
    this.rules = rules;
    this.keys = keys;
  }

  /**
   * Posts a chain.
   *
   * @param bound the type of window that may be bound
   */
  void post(SendWorkRequest chain, MwType bound) {
    if (!queue.lock().lock()) {
      throw new PostException(Errno.EIO, qp + ": the device was removed or the queue pair destroyed", chain);
    }
    try {
      for (SendWorkRequest wr = chain; wr != null; wr = wr.next()) {
        write(wr, bound);
      }
    } finally {
      queue.publish();
      queue.lock().unlock();
    }
  }

  private void write(SendWorkRequest wr, MwType bound) {
    String fault = rules.check(qp.state(), wr);
    if (fault == null) {
      fault =
          switch (wr.opcode()) {
            case REG_MR -> keys.checkRegistration(wr.region(), wr.rkey(), wr.access());
            case BIND_MW -> keys.checkBind(wr.memoryWindow(), wr.bindInfo(), bound);
            default -> null;
          };
    }
    if (fault != null) {
      throw refusal(Errno.EINVAL, fault, wr);
    }
    boolean local = SendRules.isLocal(wr.opcode());
    if (queue.isFull() || (local && !queue.hasRoom(UmrEntry.BLOCKS))) {
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
      case REG_MR -> immediate = register(wr);
      case LOCAL_INV -> immediate = keys.invalidate(wr.invalidateRkey());
      case BIND_MW -> immediate = keys.bind(wr.memoryWindow(), wr.rkey(), wr.bindInfo());
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

  private int register(SendWorkRequest wr) {
    try {
      return keys.register(wr.region(), wr.rkey(), wr.access());
    } catch (VerbsException | IllegalStateException e) {
      throw refusal(Errno.EINVAL, wr.region() + " was destroyed meanwhile: " + e.getMessage(), wr);
    }
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
      IbFastRegion fast = rules.device().fastRegion(wr.sgeLkey(i));
      if (fast != null) {
        gather(fast, i, wr);
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

  private void gather(IbFastRegion region, int buffer, SendWorkRequest wr) {
    try {
      if (region.inline(queue, wr.sgeLkey(buffer), wr.sgeAddress(buffer), wr.sgeLength(buffer))) {
        return;
      }
    } catch (IllegalStateException e) {
      throw unreadable(buffer, wr);
    }
    throw unreadable(buffer, wr);
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
