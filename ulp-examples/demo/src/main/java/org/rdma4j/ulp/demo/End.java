package org.rdma4j.ulp.demo;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
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
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.PathMtu;

/** One end of a connection: a context of its own with a queue pair, a completion queue and registered memory. */
final class End implements AutoCloseable {
  private static final int PORT = 1;
  private static final int TIMEOUT = 14;
  private static final int RETRIES = 6; // With 7 rxe would try for ever, as the kernel's does.
  private static final int FOR_EVER = 7;
  private static final int MIN_RNR_TIMER = 1;

  private final Context context;
  private final GidEntry gid;
  private final Arena arena = Arena.ofShared();
  private final Map<AsyncEventType, Integer> events = new ConcurrentHashMap<>();
  private final MemorySegment buffer;
  private final MemoryRegion region;
  private final CompletionQueue cq;
  private final QueuePair qp;

  /**
   * Makes the end on a device.
   *
   * @param bytes how much memory to register
   * @param depth how many work requests each queue takes
   */
  End(RdmaDevice device, long bytes, int depth) {
    gid = device.gidTable(PORT).entries().getFirst();
    context = device.open(DemoCommand.NAME);
    context.addAsyncEventHandler(this::happened);
    boolean made = false;
    try {
      ProtectionDomain pd = context.allocatePd();
      buffer = arena.allocate(bytes, Long.BYTES);
      region = pd.registerMemory(buffer, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      cq = context.createCq(2 * depth, null, 0);
      qp =
          pd.createQp(
              new QpInitAttributes(QpType.RC)
                  .sendCq(cq)
                  .recvCq(cq)
                  .signalAll(true)
                  .capabilities(new QpCapabilities(depth, depth, 1, 1, 0)));
      qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(PORT).access(Access.REMOTE_WRITE));
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  /** Connects the queue pair to the peer's. */
  void connect(End peer, PathMtu mtu, int ownPsn, int peerPsn) {
    qp.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(PORT, peer.gid.gid(), gid.index()))
            .pathMtu(mtu)
            .destQpNumber(peer.qp.number())
            .rqPsn(peerPsn)
            .maxDestRdAtomic(1)
            .minRnrTimer(MIN_RNR_TIMER));
    qp.modify(
        new QpAttributes()
            .state(QpState.RTS)
            .sqPsn(ownPsn)
            .timeout(TIMEOUT)
            .retryCount(RETRIES)
            .rnrRetry(FOR_EVER)
            .maxRdAtomic(1));
  }

  private void happened(AsyncEvent event) {
    events.merge(event.type(), 1, Integer::sum);
  }

  /** How often an event was told to this consumer. */
  int events(AsyncEventType type) {
    return events.getOrDefault(type, 0);
  }

  /** What a call on a removed device says, or null where there is nothing to say. */
  String refusal() {
    try {
      context.allocatePd().close();
      return null;
    } catch (VerbsException e) {
      return e.errno() + ": " + e.getMessage();
    }
  }

  String deviceName() {
    return context.deviceName();
  }

  QueuePair qp() {
    return qp;
  }

  CompletionQueue cq() {
    return cq;
  }

  MemoryRegion region() {
    return region;
  }

  /** A slot of the memory. */
  MemorySegment slot(int slot, int length) {
    return buffer.asSlice((long) slot * length, length);
  }

  /** Closing the context destroys its objects; only then may the memory go. */
  @Override
  public void close() {
    context.close();
    arena.close();
  }
}
