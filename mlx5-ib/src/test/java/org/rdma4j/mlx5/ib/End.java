package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** One end of a connection: a context with one of everything. */
final class End implements AutoCloseable {
  static final int QKEY = 0x1111_2222;
  static final int DEPTH = 64;
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final Access[] ALL = {
    Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC
  };

  final TestHost link;
  final Context context;
  final ProtectionDomain pd;
  final CompletionQueue cq;
  final QueuePair qp;
  final Arena arena = Arena.ofShared();
  final MemorySegment memory;
  final MemoryRegion region;

  End(TestHost link, QpType type, int bytes) {
    this(link, type, bytes, new QpCapabilities(DEPTH, DEPTH, 4, 4, 64));
  }

  End(TestHost link, QpType type, int bytes, QpCapabilities sizes) {
    this.link = link;
    context = link.open();
    pd = context.allocatePd();
    cq = context.createCq(4 * DEPTH, null, 0);
    qp = pd.createQp(new QpInitAttributes(type).sendCq(cq).recvCq(cq).capabilities(sizes));
    memory = arena.allocate(bytes, 4096);
    region = pd.registerMemory(memory, ALL);
  }

  void init() {
    init(qp);
  }

  static void init(QueuePair qp) {
    QpAttributes attributes = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1);
    if (qp.type() == QpType.UD) {
      attributes.qkey(QKEY);
    } else if (qp.type() == QpType.UC) {
      attributes.access(Access.REMOTE_WRITE);
    } else {
      attributes.access(
          Access.REMOTE_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_ATOMIC);
    }
    qp.modify(attributes);
  }

  void connect(End peer, PathMtu mtu) {
    connect(peer.link.gid, peer.qp.number(), mtu);
  }

  void connect(Gid peer, int peerQp, PathMtu mtu) {
    connect(qp, peer, sgidIndex(), peerQp, mtu);
  }

  /** From RESET to RTS. */
  static void connect(QueuePair qp, Gid peer, int sgidIndex, int peerQp, PathMtu mtu) {
    init(qp);
    QpAttributes toRtr = new QpAttributes().state(QpState.RTR);
    QpAttributes toRts = new QpAttributes().state(QpState.RTS).sqPsn(0x12_3456);
    if (qp.type() != QpType.UD) {
      toRtr.addressVector(new AhAttributes(1, peer, sgidIndex));
      toRtr.destQpNumber(peerQp).pathMtu(mtu).rqPsn(0x12_3456);
    }
    if (qp.type() == QpType.RC) {
      toRtr.maxDestRdAtomic(4).minRnrTimer(1);
      toRts.timeout(14).retryCount(7).rnrRetry(7).maxRdAtomic(4);
    }
    qp.modify(toRtr);
    qp.modify(toRts);
  }

  /** Both ends back to RESET and up again. */
  static void reset(End a, End b, PathMtu mtu) {
    a.qp.modify(new QpAttributes().state(QpState.RESET));
    b.qp.modify(new QpAttributes().state(QpState.RESET));
    a.connect(b, mtu);
    b.connect(a, mtu);
  }

  int sgidIndex() {
    return context.device().gidTable(1).find(link.gid).index();
  }

  /** Polls until a completion comes. */
  WorkCompletion next() {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (cq.poll(batch) == 0) {
      assertTrue(System.nanoTime() < deadline, "no completion within 20 s on " + qp);
      LockSupport.parkNanos(1_000);
    }
    return batch[0];
  }

  WorkCompletion nextSuccess() {
    WorkCompletion completion = next();
    assertEquals(WcStatus.SUCCESS, completion.status(), completion.toString());
    return completion;
  }

  void fill(long offset, int length, int seed) {
    for (int i = 0; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, offset + i, pattern(seed, i));
    }
  }

  void verify(long offset, int length, int seed) {
    for (int i = 0; i < length; i++) {
      byte found = memory.get(ValueLayout.JAVA_BYTE, offset + i);
      if (found != pattern(seed, i)) {
        assertEquals(pattern(seed, i), found, "byte " + i + " of " + length);
      }
    }
  }

  private static byte pattern(int seed, int index) {
    return (byte) (seed * 31 + index * 7 + (index >>> 8));
  }

  @Override
  public void close() {
    context.close();
    arena.close();
  }
}
