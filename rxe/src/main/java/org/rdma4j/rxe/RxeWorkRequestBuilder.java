package org.rdma4j.rxe;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.rxe.ring.SendSlotWriter;
import org.rdma4j.rxe.ring.WorkRing;

/**
 * Builds sends in the ring itself. The ring stays reserved for the batch from {@link #start()} to its end; other
 * posters wait, except that the end of the queue pair takes an open batch away.
 */
final class RxeWorkRequestBuilder implements WorkRequestBuilder {
  private final RxeQueuePair qp;
  private final WorkRing ring;
  private final SendRules rules;
  private final SendSlotWriter writer;
  private boolean open;
  private boolean removed;
  private Errno errno;
  private String fault;
  private WrOpcode opcode; // of the request being built, or null
  private long wrId;
  private int flags;
  private boolean addressed;

  RxeWorkRequestBuilder(RxeQueuePair qp, WorkRing ring, SendRules rules) {
    this.qp = qp;
    this.ring = ring;
    this.rules = rules;
    this.writer = new SendSlotWriter(ring);
  }

  @Override
  public void start() {
    if (open) {
      abort();
    }
    removed = !ring.openBatch();
    open = !removed;
    errno = null;
    fault = null;
    opcode = null;
    flags = 0;
  }

  @Override
  public void wrId(long id) {
    wrId = id;
  }

  @Override
  public void flags(int value) {
    flags = value;
  }

  @Override
  public void send() {
    begin(WrOpcode.SEND);
  }

  @Override
  public void sendImm(int immediate) {
    if (begin(WrOpcode.SEND_WITH_IMM)) {
      writer.immediate(immediate);
    }
  }

  @Override
  public void sendInv(int rkey) {
    if (begin(WrOpcode.SEND_WITH_INV)) {
      writer.invalidate(rkey);
    }
  }

  @Override
  public void rdmaWrite(int rkey, long remoteAddress) {
    if (begin(WrOpcode.RDMA_WRITE)) {
      writer.rdma(remoteAddress, rkey);
    }
  }

  @Override
  public void rdmaWriteImm(int rkey, long remoteAddress, int immediate) {
    if (begin(WrOpcode.RDMA_WRITE_WITH_IMM)) {
      writer.rdma(remoteAddress, rkey);
      writer.immediate(immediate);
    }
  }

  @Override
  public void rdmaRead(int rkey, long remoteAddress) {
    if (begin(WrOpcode.RDMA_READ)) {
      writer.rdma(remoteAddress, rkey);
    }
  }

  @Override
  public void atomicCmpSwp(int rkey, long remoteAddress, long compare, long swap) {
    atomic(WrOpcode.ATOMIC_CMP_AND_SWP, rkey, remoteAddress, compare, swap);
  }

  @Override
  public void atomicFetchAdd(int rkey, long remoteAddress, long add) {
    atomic(WrOpcode.ATOMIC_FETCH_AND_ADD, rkey, remoteAddress, add, 0);
  }

  private void atomic(WrOpcode operation, int rkey, long remoteAddress, long compareAdd, long swap) {
    if (begin(operation)) {
      check(rules.checkAtomic(remoteAddress, Long.BYTES));
      writer.atomic(remoteAddress, rkey, compareAdd, swap);
    }
  }

  @Override
  public void atomicWrite(int rkey, long remoteAddress, long value) {
    if (begin(WrOpcode.ATOMIC_WRITE)) {
      check(rules.checkAtomic(remoteAddress, Long.BYTES));
      writer.atomicWrite(remoteAddress, rkey, value);
    }
  }

  @Override
  public void flush(
      int rkey, long remoteAddress, long length, Set<FlushPlacement> placements, FlushSelectivity level) {
    if (begin(WrOpcode.FLUSH)) {
      check(SendRules.checkFlush(length, placements, level));
      if (fault == null) {
        SendRules.writeFlush(writer, rkey, remoteAddress, length, placements, level);
      }
    }
  }

  @Override
  public void bindMw(MemoryWindow window, int newRkey, MwBindInfo info) {
    if (begin(WrOpcode.BIND_MW)) {
      check(rules.checkBind(window, info, MwType.TYPE_2));
      if (fault == null) {
        SendRules.writeBind(writer, window, newRkey, info);
      }
    }
  }

  @Override
  public void regMr(MemoryRegion memory, int key, Set<Access> access) {
    if (begin(WrOpcode.REG_MR)) {
      check(rules.checkRegistration(memory, access));
      if (fault == null) {
        SendRules.writeRegistration(writer, memory, key, access);
      }
    }
  }

  @Override
  public void localInv(int rkey) {
    if (begin(WrOpcode.LOCAL_INV)) {
      writer.invalidate(rkey);
    }
  }

  @Override
  public void setSge(int lkey, long address, int length) {
    if (building()) {
      check(rules.checkSgeCount(1));
      if (fault == null) {
        writer.sge(0, address, length, lkey);
      }
    }
  }

  @Override
  public void setSgeList(int count, int[] lkeys, long[] addresses, int[] lengths) {
    if (building()) {
      check(rules.checkSgeCount(count));
      for (int i = 0; i < count && fault == null; i++) {
        writer.sge(i, addresses[i], lengths[i], lkeys[i]);
      }
    }
  }

  @Override
  public void setInlineData(MemorySegment data) {
    if (building()) {
      check(rules.checkInline(opcode, data.byteSize()));
      if (fault == null) {
        copyInline(data);
      }
    }
  }

  private void copyInline(MemorySegment data) {
    try {
      MemorySegment.copy(data, 0, writer.memory(), writer.dataOffset(), data.byteSize());
      writer.inline((int) data.byteSize());
    } catch (IllegalStateException | WrongThreadException e) {
      fail(Errno.EFAULT, "the inline data cannot be read: " + e.getMessage());
    }
  }

  @Override
  public void setUdAddr(AddressHandle handle, int remoteQpn, int remoteQkey) {
    if (building()) {
      check(rules.checkDatagram(handle, remoteQpn));
      if (fault == null) {
        writer.datagram(((RxeAddressHandle) handle).number(), remoteQpn, remoteQkey, 0);
        addressed = true;
      }
    }
  }

  @Override
  public void setXrcSrqn(int srqNumber) {
    if (named()) {
      check(rules.isExtended() ? rules.checkXrc(srqNumber) : "setXrcSrqn() is for queue pairs of type XRC_INI");
      if (fault == null) {
        writer.xrcSrq(srqNumber);
        addressed = true;
      }
    }
  }

  @Override
  public void complete() {
    boolean mine = open;
    open = false;
    if (!mine) {
      if (removed) {
        throw new VerbsException(Errno.EIO, gone());
      }
      throw new VerbsException(Errno.EINVAL, "wr_complete on " + qp + " without wr_start");
    }
    finish();
    if (fault != null) {
      ring.abortBatch();
      throw new VerbsException(errno, "wr_complete on " + qp + ": wr_id " + wrId + ": " + fault);
    }
    if (!ring.lockBatch()) {
      throw new VerbsException(Errno.EIO, gone());
    }
    boolean posted = ring.hasUnpublished();
    if (posted) {
      ring.publish();
    }
    ring.unlock();
    if (posted) {
      qp.transport().ring();
    }
  }

  @Override
  public void abort() {
    if (open) {
      open = false;
      ring.abortBatch();
    }
  }

  private String gone() {
    return qp + ": the device was removed or the queue pair destroyed";
  }

  private boolean begin(WrOpcode operation) {
    if (!open) {
      return false;
    }
    finish();
    check(rules.checkState(qp.transport().state()));
    check(rules.checkOpcode(operation));
    if (fault != null) {
      return false;
    }
    long slot = ring.nextSlot();
    if (slot < 0) {
      fail(Errno.ENOMEM, "the send queue has no room for the batch: it holds " + ring.capacity() + " requests");
      return false;
    }
    opcode = operation;
    addressed = false;
    writer.begin(slot, wrId, operation.number(), flags & ~SendFlag.INLINE);
    return true;
  }

  /** The request that was being built is complete. */
  private void finish() {
    if (opcode == null || fault != null) {
      return;
    }
    if (SendRules.isAtomic(opcode) && writer.length() < Long.BYTES) {
      check("its buffers have " + writer.length() + " bytes; an atomic needs 8");
    }
    if (rules.isDatagram() && !addressed) {
      check("setUdAddr() was not called; a datagram needs its receiver");
    }
    if (rules.isExtended() && !addressed && !WorkOpcode.isLocal(opcode.number())) {
      check("setXrcSrqn() was not called; the request needs a shared receive queue of the peer");
    }
    if (fault == null) {
      ring.advance();
      opcode = null;
    }
  }

  private boolean building() {
    if (named() && SendRules.hasNoData(opcode)) {
      check("data or an address was set for " + opcode + ", which takes none");
    }
    return open && fault == null;
  }

  private boolean named() {
    if (open && fault == null && opcode == null) {
      check("data was set before an operation was named");
    }
    return open && fault == null;
  }

  private void check(String wrong) {
    if (wrong != null) {
      fail(Errno.EINVAL, wrong);
    }
  }

  private void fail(Errno number, String wrong) {
    if (fault == null) {
      errno = number;
      fault = wrong;
    }
  }
}
