package org.rdma4j.mlx5.ib;

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
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;

/**
 * Builds sends in the queue itself. The queue is reserved from {@link #start()} to the end of the batch; the end of the
 * queue pair takes an open batch away. What is written meanwhile is nothing to the card before {@link #complete()}.
 */
final class IbWorkRequestBuilder implements WorkRequestBuilder {
  private final IbQueuePair qp;
  private final SendQueue queue;
  private final SendRules rules;
  private final UmrPosting keys;
  private boolean open;
  private boolean removed;
  private Errno errno;
  private String fault;
  private WrOpcode opcode; // of the request being built, or null
  private long wrId;
  private long currentId;
  private int flags;
  private int currentFlags;
  private int immediate;
  private long length;
  private boolean addressed;

  IbWorkRequestBuilder(IbQueuePair qp, SendQueue queue, SendRules rules, UmrPosting keys) {
    this.qp = qp;
    this.queue = queue;
    this.rules = rules;
    this.keys = keys;
  }

  @Override
  public void start() {
    if (open) {
      abort();
    }
    removed = !queue.lock().openBatch();
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
    begin(WrOpcode.SEND, 0);
    leave();
  }

  @Override
  public void sendImm(int data) {
    begin(WrOpcode.SEND_WITH_IMM, data);
    leave();
  }

  @Override
  public void sendInv(int rkey) {
    begin(WrOpcode.SEND_WITH_INV, rkey);
    leave();
  }

  @Override
  public void rdmaWrite(int rkey, long remoteAddress) {
    remote(WrOpcode.RDMA_WRITE, rkey, remoteAddress, 0);
  }

  @Override
  public void rdmaWriteImm(int rkey, long remoteAddress, int data) {
    remote(WrOpcode.RDMA_WRITE_WITH_IMM, rkey, remoteAddress, data);
  }

  @Override
  public void rdmaRead(int rkey, long remoteAddress) {
    remote(WrOpcode.RDMA_READ, rkey, remoteAddress, 0);
  }

  private void remote(WrOpcode operation, int rkey, long remoteAddress, int data) {
    if (begin(operation, data)) {
      queue.remote(remoteAddress, rkey);
    }
    leave();
  }

  @Override
  public void atomicCmpSwp(int rkey, long remoteAddress, long compare, long swap) {
    atomic(WrOpcode.ATOMIC_CMP_AND_SWP, rkey, remoteAddress, swap, compare);
  }

  @Override
  public void atomicFetchAdd(int rkey, long remoteAddress, long add) {
    atomic(WrOpcode.ATOMIC_FETCH_AND_ADD, rkey, remoteAddress, add, 0);
  }

  private void atomic(WrOpcode operation, int rkey, long remoteAddress, long swapOrAdd, long compare) {
    if (begin(operation, 0)) {
      check(SendRules.checkAtomic(remoteAddress));
      queue.remote(remoteAddress, rkey);
      queue.atomic(swapOrAdd, compare);
    }
    leave();
  }

  @Override
  public void atomicWrite(int rkey, long remoteAddress, long value) {
    begin(WrOpcode.ATOMIC_WRITE, 0);
    leave();
  }

  @Override
  public void flush(
      int rkey, long remoteAddress, long bytes, Set<FlushPlacement> placements, FlushSelectivity level) {
    begin(WrOpcode.FLUSH, 0);
    leave();
  }

  @Override
  public void bindMw(MemoryWindow window, int newRkey, MwBindInfo info) {
    if (begin(WrOpcode.BIND_MW, 0)) {
      check(keys.checkBind(window, info, MwType.TYPE_2));
      if (fault == null) {
        immediate = keys.bind(window, newRkey, info);
      }
    }
    leave();
  }

  @Override
  public void regMr(MemoryRegion memory, int key, Set<Access> access) {
    if (begin(WrOpcode.REG_MR, 0)) {
      check(keys.checkRegistration(memory, key, access));
      if (fault == null) {
        register(memory, key, access);
      }
    }
    leave();
  }

  private void register(MemoryRegion memory, int key, Set<Access> access) {
    try {
      immediate = keys.register(memory, key, access);
    } catch (VerbsException | IllegalStateException e) {
      fail(Errno.EINVAL, memory + " was destroyed meanwhile: " + e.getMessage());
    }
  }

  @Override
  public void localInv(int rkey) {
    if (begin(WrOpcode.LOCAL_INV, rkey)) {
      immediate = keys.invalidate(rkey);
    }
    leave();
  }

  @Override
  public void setSge(int lkey, long address, int bytes) {
    if (named()) {
      check(rules.checkSgeCount(1));
      sge(lkey, address, bytes);
    }
    leave();
  }

  @Override
  public void setSgeList(int count, int[] lkeys, long[] addresses, int[] lengths) {
    if (named()) {
      check(rules.checkSgeCount(count));
      for (int i = 0; i < count && fault == null; i++) {
        sge(lkeys[i], addresses[i], lengths[i]);
      }
    }
    leave();
  }

  private void sge(int lkey, long address, int bytes) {
    if (fault == null) {
      queue.data(address, bytes, lkey);
      length += Integer.toUnsignedLong(bytes);
    }
  }

  @Override
  public void setInlineData(MemorySegment data) {
    if (named()) {
      check(rules.checkInline(opcode, data.byteSize()));
      if (fault == null) {
        copyInline(data);
      }
    }
    leave();
  }

  private void copyInline(MemorySegment data) {
    try {
      queue.inlineHead((int) data.byteSize());
      queue.inline(data, 0, (int) data.byteSize());
    } catch (IllegalStateException | WrongThreadException e) {
      fail(Errno.EFAULT, "the inline data cannot be read: " + e.getMessage());
    }
  }

  @Override
  public void setUdAddr(AddressHandle handle, int remoteQpn, int remoteQkey) {
    if (named()) {
      check(rules.isDatagram() ? rules.checkDatagram(handle, remoteQpn) : "setUdAddr() is for datagrams");
      if (fault == null) {
        queue.datagram((IbAddressHandle) handle, remoteQpn, remoteQkey);
        addressed = true;
      }
    }
    leave();
  }

  @Override
  public void setXrcSrqn(int srqNumber) {
    if (named()) {
      check(
          rules.isExtended()
              ? SendRules.checkXrc(srqNumber)
              : "setXrcSrqn() is for queue pairs of type XRC_INI");
      if (fault == null) {
        queue.xrc(srqNumber);
        addressed = true;
      }
    }
    leave();
  }

  @Override
  public void complete() {
    boolean mine = open;
    open = false;
    if (!mine) {
      throw removed
          ? new VerbsException(Errno.EIO, gone())
          : new VerbsException(Errno.EINVAL, "wr_complete on " + qp + " without wr_start");
    }
    if (!queue.lock().lockBatch()) {
      throw new VerbsException(Errno.EIO, gone());
    }
    try {
      finish();
      if (fault != null) {
        queue.forget();
        throw new VerbsException(errno, "wr_complete on " + qp + ": wr_id " + wrId + ": " + fault);
      }
      queue.publish();
    } finally {
      queue.lock().unlock();
    }
  }

  @Override
  public void abort() {
    if (open) {
      open = false;
      if (queue.lock().lockBatch()) {
        queue.forget();
        queue.lock().unlock();
      }
    }
  }

  private String gone() {
    return qp + ": the device was removed or the queue pair destroyed";
  }

  /** Each step holds the queue, so that its memory stays; false when there is nothing to write. Ends with leave. */
  private boolean enter() {
    if (!open) {
      return false;
    }
    if (!queue.lock().lockBatch()) {
      open = false;
      removed = true;
      return false;
    }
    return true;
  }

  private void leave() {
    if (open) {
      queue.lock().keepBatch();
    }
  }

  private boolean begin(WrOpcode operation, int data) {
    if (!enter()) {
      return false;
    }
    finish();
    check(rules.checkState(qp.state()));
    check(rules.checkOpcode(operation));
    if (fault == null
        && (queue.isFull() || (SendRules.isLocal(operation) && !queue.hasRoom(UmrEntry.BLOCKS)))) {
      fail(Errno.ENOMEM, "the send queue has no room for the batch: it holds " + queue.maxPosted() + " requests");
    }
    if (fault != null) {
      return false;
    }
    opcode = operation;
    currentId = wrId;
    currentFlags = flags;
    immediate = data;
    length = 0;
    addressed = false;
    queue.begin();
    if (rules.isDatagram()) {
      queue.skipDatagram();
    } else if (rules.isExtended()) {
      queue.skipXrc();
    }
    return true;
  }

  /** The request that was being built is complete. */
  private void finish() {
    if (opcode == null || fault != null) {
      return;
    }
    if (SendRules.isAtomic(opcode) && length != Long.BYTES) {
      check("its buffers have " + length + " bytes; an atomic needs 8");
    }
    if (rules.isDatagram() && !addressed) {
      check("setUdAddr() was not called; a datagram needs its receiver");
    }
    if (rules.isExtended() && !addressed) {
      check("setXrcSrqn() was not called; the request needs a shared receive queue of the peer");
    }
    if (fault == null) {
      queue.end(currentId, SendRules.number(opcode), currentFlags, immediate, SendRules.completion(opcode));
      opcode = null;
    }
  }

  private boolean named() {
    if (!enter()) {
      return false;
    }
    if (fault == null && opcode == null) {
      check("data was set before an operation was named");
    }
    if (fault == null && SendRules.isLocal(opcode)) {
      check(opcode + " takes no data");
    }
    return fault == null;
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
