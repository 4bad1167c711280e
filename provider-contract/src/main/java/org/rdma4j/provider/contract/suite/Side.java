package org.rdma4j.provider.contract.suite;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AtomicCapability;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** One user of a device: a context with one of everything that most cases need. */
final class Side implements AutoCloseable {
  static final int QKEY = 0x1111_2222;
  static final int BYTES = 1 << 18;
  static final int DEPTH = 64;
  /** Bytes of the global route header before a datagram. */
  static final int GRH = 40;
  private static final int PAGE = 4096;
  private static final int PSN = 0x12_3456;

  final RdmaDevice device;
  final int port;
  final GidEntry gid;
  final Context context;
  final Arena arena = Arena.ofShared();
  final MemorySegment memory;
  final ProtectionDomain pd;
  final MemoryRegion region;
  final CompletionQueue cq;
  private QueuePair qp;

  Side(RdmaDevice device, int port) {
    this.device = device;
    this.port = port;
    this.gid = device.gidTable(port).entries().getFirst();
    this.context = device.open("contract");
    boolean made = false;
    try {
      memory = arena.allocate(BYTES, PAGE);
      pd = context.allocatePd();
      region = pd.registerMemory(memory, rights());
      cq = context.createCq(Math.min(4 * DEPTH, limit(DeviceLimit.MAX_CQE)), null, 0);
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  /** All rights a peer can have, as far as the device has them. */
  Access[] rights() {
    EnumSet<Access> all = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
    if (device.attributes().atomicCapability() != AtomicCapability.NONE) {
      all.add(Access.REMOTE_ATOMIC);
    }
    return all.toArray(Access[]::new);
  }

  /** A limit as a number of things to make. */
  int limit(DeviceLimit which) {
    return (int) Math.min(Integer.MAX_VALUE, device.attributes().limit(which));
  }

  QueuePair qp() {
    return qp;
  }

  /** The sizes most queue pairs have. */
  QpCapabilities sizes() {
    return new QpCapabilities(
        Math.min(DEPTH, limit(DeviceLimit.MAX_QP_WR)),
        Math.min(DEPTH, limit(DeviceLimit.MAX_QP_WR)),
        Math.min(4, limit(DeviceLimit.MAX_SEND_SGE)),
        Math.min(4, limit(DeviceLimit.MAX_RECV_SGE)),
        Math.min(64, limit(DeviceLimit.MAX_INLINE_DATA)));
  }

  QpInitAttributes init(QpType type) {
    return new QpInitAttributes(type).sendCq(cq).recvCq(cq).capabilities(sizes());
  }

  /** Makes the queue pair of this side. */
  Side with(QpType type) {
    return with(init(type));
  }

  Side with(QpInitAttributes init) {
    qp = pd.createQp(init);
    return this;
  }

  int sgid() {
    return gid.index();
  }

  AhAttributes path(Side peer) {
    return new AhAttributes(port, peer.gid.gid(), sgid()).withHopLimit(64);
  }

  QpAttributes toInit(QpType type, Way way) {
    QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(port);
    return type == QpType.UD ? init.qkey(QKEY) : init.access(way.rightsOf(type));
  }

  QpAttributes toRtr(QpType type, Side peer, int number, Way way) {
    QpAttributes rtr = new QpAttributes().state(QpState.RTR);
    if (type != QpType.UD) {
      rtr.addressVector(path(peer)).destQpNumber(number).pathMtu(mtu(peer, way)).rqPsn(PSN);
    }
    if (type == QpType.RC || type == QpType.XRC_TGT) {
      rtr.maxDestRdAtomic(Math.min(way.reads, limit(DeviceLimit.MAX_QP_RD_ATOM))).minRnrTimer(1);
    }
    return rtr;
  }

  QpAttributes toRts(QpType type, Way way) {
    QpAttributes rts = new QpAttributes().state(QpState.RTS).sqPsn(PSN);
    if (type == QpType.RC || type == QpType.XRC_INI) {
      rts.timeout(way.timeout).retryCount(way.retries).rnrRetry(way.rnrRetries);
      rts.maxRdAtomic(Math.min(way.reads, limit(DeviceLimit.MAX_QP_INIT_RD_ATOM)));
    }
    return rts;
  }

  private PathMtu mtu(Side peer, Way way) {
    if (way.mtu != null) {
      return way.mtu;
    }
    PathMtu both = common(device.port(port).activeMtu(), peer.device.port(peer.port).activeMtu());
    return common(both, PathMtu.MTU_1024);
  }

  static PathMtu common(PathMtu one, PathMtu other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Brings a queue pair of this side from RESET to RTS, connected to one of the peer where its type is. */
  void connect(QueuePair own, Side peer, int number, Way way) {
    own.modify(toInit(own.type(), way));
    own.modify(toRtr(own.type(), peer, number, way));
    own.modify(toRts(own.type(), way));
  }

  void reset(QueuePair own) {
    own.modify(new QpAttributes().state(QpState.RESET));
  }

  /** A signalled request with one buffer. */
  SendWorkRequest request(WrOpcode opcode, long id, long offset, int length) {
    return new SendWorkRequest()
        .wrId(id)
        .opcode(opcode)
        .flags(SendFlag.SIGNALED)
        .addSge(region.address() + offset, length, region.lkey());
  }

  SendWorkRequest send(long id, long offset, int length) {
    return request(WrOpcode.SEND, id, offset, length);
  }

  /** A request to the memory of the peer. */
  SendWorkRequest remote(WrOpcode opcode, long id, long offset, int length, Side peer, long there) {
    return request(opcode, id, offset, length)
        .remoteAddress(peer.region.address() + there)
        .rkey(peer.region.rkey());
  }

  ReceiveWorkRequest receive(long id, long offset, int length) {
    return new ReceiveWorkRequest().wrId(id).addSge(region.address() + offset, length, region.lkey());
  }

  void postReceive(long id, long offset, int length) {
    qp.postReceive(receive(id, offset, length));
  }

  void postSend(SendWorkRequest chain) {
    qp.postSend(chain);
  }

  /** Waits for the next completion of this side. */
  WorkCompletion next() {
    return next(cq, "a completion of " + this);
  }

  static WorkCompletion next(CompletionQueue cq, String what) {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    Patience patience = new Patience();
    while (cq.poll(batch) == 0) {
      Check.that(patience.waits(), what + " does not come");
    }
    return batch[0];
  }

  /** The next completion is a success. */
  WorkCompletion done(long id, WcOpcode opcode) {
    WorkCompletion next = next();
    done(next, id, opcode);
    return next;
  }

  static void done(WorkCompletion completion, long id, WcOpcode opcode) {
    if (completion.status() != WcStatus.SUCCESS || completion.wrId() != id || completion.opcode() != opcode) {
      throw new Broken("the completion is " + completion + ", not SUCCESS of " + opcode + " with wr_id " + id);
    }
  }

  WorkCompletion received(long id, int length) {
    WorkCompletion next = done(id, WcOpcode.RECV);
    Check.equal(length, next.byteLength(), "byte_len of " + next);
    return next;
  }

  /** The next completion is a failure with one of the statuses. */
  WorkCompletion failed(long id, WcStatus... allowed) {
    WorkCompletion next = next();
    if (next.wrId() != id || !Set.of(allowed).contains(next.status())) {
      throw new Broken("the completion is " + next + ", not " + Arrays.toString(allowed) + " of wr_id " + id);
    }
    return next;
  }

  /** There is no completion. */
  void nothing() {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    Check.that(cq.poll(batch) == 0, "there is one completion too many: " + batch[0]);
  }

  void fill(long offset, int length, int seed) {
    Bytes.fill(memory, offset, length, seed);
  }

  void verify(long offset, int length, int seed) {
    Bytes.verify(memory, offset, length, seed, "the memory of " + this);
  }

  void untouched(long offset, int length) {
    Bytes.untouched(memory, offset, length, "the memory of " + this);
  }

  /** Waits until the queue pair is in a state, as its owner sees it. */
  void await(QpState state) {
    Patience patience = new Patience();
    while (qp.query().state() != state) {
      Check.that(patience.waits(), qp + " stays in " + qp.state() + "; it must enter " + state);
    }
  }

  @Override
  public void close() {
    context.close();
    arena.close();
  }

  @Override
  public String toString() {
    return device.name();
  }
}
