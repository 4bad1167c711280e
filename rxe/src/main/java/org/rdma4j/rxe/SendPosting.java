package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rxe.ring.SendSlotWriter;
import org.rdma4j.rxe.ring.WorkRing;

/**
 * Posting of chains of sends (kernel: {@code rxe_verbs.c:rxe_post_send}). Requests are checked and written straight
 * into the ring, and the engine is told once per chain.
 */
final class SendPosting {
  private final RxeQueuePair qp;
  private final WorkRing ring;
  private final SendRules rules;
  private final SendSlotWriter writer;

  SendPosting(RxeQueuePair qp, WorkRing ring, SendRules rules) {
    this.qp = qp;
    this.ring = ring;
    this.rules = rules;
    this.writer = new SendSlotWriter(ring);
  }

  /**
   * Posts a chain.
   *
   * @param chain the first request
   * @param bound the type of window that may be bound
   */
  void post(SendWorkRequest chain, MwType bound) {
    if (!ring.lock()) {
      throw new PostException(Errno.EIO, qp + ": the device was removed or the queue pair destroyed", chain);
    }
    boolean posted = false;
    try {
      for (SendWorkRequest wr = chain; wr != null; wr = wr.next()) {
        write(wr, bound);
        ring.advance();
      }
    } finally {
      posted = ring.hasUnpublished();
      if (posted) {
        ring.publish();
      }
      ring.unlock();
      if (posted) {
        qp.transport().ring();
      }
    }
  }

  private void write(SendWorkRequest wr, MwType bound) {
    String fault = rules.check(qp.transport().state(), wr);
    if (fault == null && wr.opcode() == WrOpcode.BIND_MW) {
      fault = rules.checkBind(wr.memoryWindow(), wr.bindInfo(), bound);
    } else if (fault == null && wr.opcode() == WrOpcode.REG_MR) {
      fault = rules.checkRegistration(wr.region(), wr.access());
    }
    if (fault != null) {
      throw refusal(Errno.EINVAL, fault, wr);
    }
    long slot = ring.nextSlot();
    if (slot < 0) {
      throw refusal(Errno.ENOMEM, "the send queue is full: it holds " + ring.capacity() + " requests", wr);
    }
    WrOpcode opcode = wr.opcode();
    writer.begin(slot, wr.wrId(), opcode.number(), wr.flags());
    switch (opcode) {
      case RDMA_WRITE, RDMA_READ -> writer.rdma(wr.remoteAddress(), wr.rkey());
      case RDMA_WRITE_WITH_IMM -> {
        writer.rdma(wr.remoteAddress(), wr.rkey());
        writer.immediate(wr.immediate());
      }
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
          writer.atomic(wr.remoteAddress(), wr.rkey(), wr.compareAdd(), wr.swap());
      case ATOMIC_WRITE -> writer.atomicWrite(wr.remoteAddress(), wr.rkey(), wr.compareAdd());
      case FLUSH -> SendRules.writeFlush(
          writer, wr.rkey(), wr.remoteAddress(), wr.flushLength(), wr.placement(), wr.selectivity());
      case SEND_WITH_INV, LOCAL_INV -> writer.invalidate(wr.invalidateRkey());
      case SEND_WITH_IMM -> writer.immediate(wr.immediate());
      case REG_MR -> SendRules.writeRegistration(writer, wr.region(), wr.rkey(), wr.access());
      case BIND_MW -> SendRules.writeBind(writer, wr.memoryWindow(), wr.rkey(), wr.bindInfo());
      default -> {
        // A SEND has nothing more.
      }
    }
    if (rules.isDatagram()) {
      writer.datagram(((RxeAddressHandle) wr.ah()).number(), wr.remoteQpn(), wr.remoteQkey(), wr.pkeyIndex());
    }
    if (rules.isExtended()) {
      writer.xrcSrq(wr.xrcSrqNumber());
    }
    if (wr.inlineData() != null) {
      copyInline(wr);
    } else if ((wr.flags() & SendFlag.INLINE) != 0) {
      gatherInline(wr);
    } else {
      writer.sges(wr);
    }
  }

  private void copyInline(SendWorkRequest wr) {
    MemorySegment data = wr.inlineData();
    try {
      MemorySegment.copy(data, 0, writer.memory(), writer.dataOffset(), data.byteSize());
    } catch (IllegalStateException | WrongThreadException e) {
      throw refusal(Errno.EFAULT, "the inline data cannot be read: " + e.getMessage(), wr);
    }
    writer.inline((int) data.byteSize());
  }

  /** Inline data by address and key: only registered memory is read, since an address alone cannot be trusted. */
  private void gatherInline(SendWorkRequest wr) {
    int total = 0;
    for (int i = 0; i < wr.sgeCount(); i++) {
      int length = wr.sgeLength(i);
      boolean read =
          length == 0
              || (qp.device().keys().find(wr.sgeLkey(i)) instanceof RegionMemory memory
                  && memory.readInline(
                      wr.sgeLkey(i), wr.sgeAddress(i), writer.memory(), writer.dataOffset() + total, length));
      if (!read) {
        throw refusal(
            Errno.EFAULT,
            "inline buffer " + i + " is not inside the memory region of its lkey; memory that is not registered goes"
                + " into inlineData()",
            wr);
      }
      total += length;
    }
    writer.inline(total);
  }

  private PostException refusal(Errno errno, String fault, SendWorkRequest wr) {
    String what = "post_send of " + wr.opcode() + " wr_id " + wr.wrId() + " to " + qp;
    return new PostException(errno, what + ": " + fault, wr);
  }
}
