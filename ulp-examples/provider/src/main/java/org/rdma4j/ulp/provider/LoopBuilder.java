package org.rdma4j.ulp.provider;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Collects requests and posts them together; what the device does not know is refused then. */
final class LoopBuilder implements WorkRequestBuilder {
  private final LoopQp qp;
  private final List<SendWorkRequest> batch = new ArrayList<>();
  private long wrId;
  private int flags;

  LoopBuilder(LoopQp qp) {
    this.qp = qp;
  }

  @Override
  public void start() {
    batch.clear();
    wrId = 0;
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

  private SendWorkRequest add(WrOpcode opcode) {
    SendWorkRequest request = new SendWorkRequest().opcode(opcode).wrId(wrId).flags(flags);
    batch.add(request);
    return request;
  }

  private SendWorkRequest remote(WrOpcode opcode, int rkey, long address) {
    return add(opcode).rkey(rkey).remoteAddress(address);
  }

  @Override
  public void send() {
    add(WrOpcode.SEND);
  }

  @Override
  public void sendImm(int immediate) {
    add(WrOpcode.SEND_WITH_IMM).immediate(immediate);
  }

  @Override
  public void sendInv(int rkey) {
    add(WrOpcode.SEND_WITH_INV).invalidateRkey(rkey);
  }

  @Override
  public void rdmaWrite(int rkey, long remoteAddress) {
    remote(WrOpcode.RDMA_WRITE, rkey, remoteAddress);
  }

  @Override
  public void rdmaWriteImm(int rkey, long remoteAddress, int immediate) {
    remote(WrOpcode.RDMA_WRITE_WITH_IMM, rkey, remoteAddress).immediate(immediate);
  }

  @Override
  public void rdmaRead(int rkey, long remoteAddress) {
    remote(WrOpcode.RDMA_READ, rkey, remoteAddress);
  }

  @Override
  public void atomicCmpSwp(int rkey, long remoteAddress, long compare, long swap) {
    remote(WrOpcode.ATOMIC_CMP_AND_SWP, rkey, remoteAddress);
  }

  @Override
  public void atomicFetchAdd(int rkey, long remoteAddress, long add) {
    remote(WrOpcode.ATOMIC_FETCH_AND_ADD, rkey, remoteAddress);
  }

  @Override
  public void atomicWrite(int rkey, long remoteAddress, long value) {
    remote(WrOpcode.ATOMIC_WRITE, rkey, remoteAddress);
  }

  @Override
  public void flush(
      int rkey, long remoteAddress, long length, Set<FlushPlacement> placements, FlushSelectivity level) {
    remote(WrOpcode.FLUSH, rkey, remoteAddress);
  }

  @Override
  public void bindMw(MemoryWindow window, int newRkey, MwBindInfo info) {
    add(WrOpcode.BIND_MW);
  }

  @Override
  public void regMr(MemoryRegion memory, int key, Set<Access> access) {
    add(WrOpcode.REG_MR);
  }

  @Override
  public void localInv(int rkey) {
    add(WrOpcode.LOCAL_INV);
  }

  @Override
  public void setSge(int lkey, long address, int length) {
    batch.getLast().clearSges().addSge(address, length, lkey);
  }

  @Override
  public void setSgeList(int count, int[] lkeys, long[] addresses, int[] lengths) {
    SendWorkRequest last = batch.getLast().clearSges();
    for (int i = 0; i < count; i++) {
      last.addSge(addresses[i], lengths[i], lkeys[i]);
    }
  }

  @Override
  public void setInlineData(MemorySegment data) {
    batch.getLast().inlineData(data);
  }

  @Override
  public void setUdAddr(AddressHandle handle, int remoteQpn, int remoteQkey) {
    batch.getLast().ah(handle).remoteQpn(remoteQpn).remoteQkey(remoteQkey);
  }

  @Override
  public void setXrcSrqn(int srqNumber) {
    batch.getLast().xrcSrqNumber(srqNumber);
  }

  @Override
  public void complete() {
    try {
      qp.postBatch(batch);
    } finally {
      batch.clear();
    }
  }

  @Override
  public void abort() {
    batch.clear();
  }
}
