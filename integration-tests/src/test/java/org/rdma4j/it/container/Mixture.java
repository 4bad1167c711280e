package org.rdma4j.it.container;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
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
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/**
 * Messages both ways between two devices on queue pairs of every type at once, two of each, driven by one thread, with
 * books: every work request completes exactly once and in order, except receives that nobody took from a shared queue.
 */
final class Mixture implements AutoCloseable {
  /** What carries messages. */
  enum Kind {
    RC(QpType.RC),
    UC(QpType.UC),
    UD(QpType.UD),
    RC_WITH_SRQ(QpType.RC);

    private final QpType type;

    Kind(QpType type) {
      this.type = type;
    }
  }

  private static final long RECEIVE = 1L << 62; // marks the identifiers of receives
  private static final int PAIRS_OF_A_KIND = 2;
  private static final int WINDOW = 4;
  private static final int BYTES = 700;
  private static final int GRH = 40;
  private static final int QKEY = 0x1234567;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_NANOS = 20_000;

  private final Arena arena = Arena.ofShared();
  private final Side left;
  private final Side right;
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch busy;
  private final Thread thread = Thread.ofPlatform().name("mixed traffic").unstarted(this::work);
  private final CountDownLatch fatal = new CountDownLatch(2);
  private volatile boolean released;

  Mixture(RdmaDevice a, RdmaDevice b) {
    left = new Side(a);
    right = new Side(b);
    busy = new CountDownLatch(left.ends.size() + right.ends.size());
    for (int i = 0; i < left.ends.size(); i++) {
      left.ends.get(i).connect(right.ends.get(i));
      right.ends.get(i).connect(left.ends.get(i));
    }
  }

  void start() {
    thread.start();
  }

  /** Waits until every queue pair has received. */
  void awaitBusy() throws InterruptedException {
    if (!busy.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
      problems.add("no traffic: " + left.state() + " " + right.state());
    }
  }

  /** Waits until the devices of both sides are gone and all is accounted for. */
  void join() throws InterruptedException {
    if (thread.getState() != Thread.State.NEW && !thread.join(Duration.ofNanos(2 * PATIENCE_NANOS))) {
      problems.add("traffic does not end: " + left.state() + " " + right.state());
    }
  }

  /** Lets the thread end whatever there is to do. */
  void release() {
    released = true;
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  /** Waits until both devices were reported gone. */
  void awaitFatal() throws InterruptedException {
    if (!fatal.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
      problems.add("no event tells that the devices are gone: " + events());
    }
  }

  /** The events of both sides. */
  List<AsyncEventType> events() {
    List<AsyncEventType> all = new ArrayList<>(left.events);
    all.addAll(right.events);
    return all;
  }

  /** How many work requests completed well. */
  long succeeded() {
    return left.succeeded.get() + right.succeeded.get();
  }

  /** How many work requests were flushed. */
  long flushed() {
    return left.flushed.get() + right.flushed.get();
  }

  @Override
  public void close() {
    left.context.close();
    right.context.close();
    arena.close();
  }

  private void work() {
    try {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (!released && !(left.isOver() && right.isOver())) {
        int done = left.serve() + right.serve();
        if (done > 0) {
          deadline = System.nanoTime() + PATIENCE_NANOS;
        } else {
          LockSupport.parkNanos(this, PAUSE_NANOS);
        }
        if (System.nanoTime() - deadline > 0) {
          problems.add("nothing happens any more: " + left.state() + " " + right.state());
          return;
        }
      }
      if (!released) {
        left.audit();
        right.audit();
      }
    } catch (RuntimeException e) {
      problems.add("traffic: " + e);
    }
  }

  /** What is on one device. */
  private final class Side {
    final Context context;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final SharedReceiveQueue shared;
    final Set<Long> sharedReceives = new HashSet<>();
    final List<End> ends = new ArrayList<>();
    final List<AsyncEventType> events = Collections.synchronizedList(new ArrayList<>());
    final WorkCompletion[] batch = WorkCompletion.batch(2 * WINDOW);
    long nextShared = RECEIVE;
    final AtomicLong succeeded = new AtomicLong();
    final AtomicLong flushed = new AtomicLong();

    Side(RdmaDevice device) {
      context = device.open("mixture");
      context.addAsyncEventHandler(this::note);
      domain = context.allocatePd();
      MemorySegment memory = arena.allocate(GRH + BYTES, 64);
      region = domain.registerMemory(memory, Access.LOCAL_WRITE);
      shared = domain.createSrq(new SrqInitAttributes(PAIRS_OF_A_KIND * WINDOW, 1));
      for (Kind kind : Kind.values()) {
        for (int i = 0; i < PAIRS_OF_A_KIND; i++) {
          ends.add(new End(this, kind));
        }
      }
    }

    private void note(AsyncEvent event) {
      events.add(event.type());
      if (event.type() == AsyncEventType.DEVICE_FATAL) {
        fatal.countDown();
      }
    }

    int serve() {
      int done = 0;
      postShared();
      for (End each : ends) {
        each.post();
        done += each.poll();
      }
      return done;
    }

    /** As many as all queue pairs together may have taken. */
    private void postShared() {
      try {
        while (!ends.getFirst().refused && sharedReceives.size() < PAIRS_OF_A_KIND * WINDOW) {
          shared.postReceive(
              new ReceiveWorkRequest().wrId(nextShared).addSge(region.address(), GRH + BYTES, region.lkey()));
          sharedReceives.add(nextShared++);
        }
      } catch (VerbsException e) {
        if (e.errno() != Errno.EIO) {
          problems.add("posting to " + shared + ": " + e);
        }
      }
    }

    boolean isOver() {
      return ends.stream().allMatch(end -> end.exhausted);
    }

    void audit() {
      for (End each : ends) {
        if (!each.sends.isEmpty() || !each.receives.isEmpty()) {
          problems.add("never completed on " + each + ": sends " + each.sends + ", receives " + each.receives);
        }
      }
    }

    String state() {
      return context.deviceName() + ends;
    }
  }

  /** One queue pair and what is posted to it. */
  private final class End {
    final Side side;
    final Kind kind;
    final CompletionQueue queue;
    final QueuePair pair;
    final Deque<Long> sends = new ArrayDeque<>(); // posted, not completed; so are receives
    final Deque<Long> receives = new ArrayDeque<>();
    private AddressHandle peerHandle;
    private int peerNumber;
    private long next;
    private boolean busyOnce;
    private boolean failed;
    private boolean refused;
    private volatile boolean exhausted;

    End(Side side, Kind kind) {
      this.side = side;
      this.kind = kind;
      queue = side.context.createCq(4 * PAIRS_OF_A_KIND * WINDOW, null, 0);
      QpInitAttributes init =
          new QpInitAttributes(kind.type)
              .sendCq(queue)
              .recvCq(queue)
              .capabilities(new QpCapabilities(WINDOW, WINDOW, 1, 1, 0));
      if (kind == Kind.RC_WITH_SRQ) {
        init.srq(side.shared);
      }
      pair = side.domain.createQp(init);
    }

    void connect(End peer) {
      GidEntry destination = peer.side.context.device().gidTable(1).entries().getFirst();
      int source = side.context.device().gidTable(1).entries().getFirst().index();
      AhAttributes way = new AhAttributes(1, destination.gid(), source).withHopLimit(64);
      QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1);
      QpAttributes toReceive = new QpAttributes().state(QpState.RTR);
      QpAttributes toSend = new QpAttributes().state(QpState.RTS).sqPsn(0xfffff0);
      if (kind == Kind.UD) {
        init.qkey(QKEY);
        peerHandle = side.domain.createAh(way);
        peerNumber = peer.pair.number();
      } else {
        init.access(Access.LOCAL_WRITE);
        toReceive
            .addressVector(way)
            .pathMtu(PathMtu.MTU_256)
            .destQpNumber(peer.pair.number())
            .rqPsn(0xfffff0);
      }
      if (kind.type == QpType.RC) {
        toReceive.maxDestRdAtomic(1).minRnrTimer(1);
        toSend.maxRdAtomic(1).timeout(14).retryCount(6).rnrRetry(7);
      }
      pair.modify(init);
      pair.modify(toReceive);
      pair.modify(toSend);
    }

    void post() {
      try {
        while (!refused && !failed && kind != Kind.RC_WITH_SRQ && receives.size() < WINDOW) {
          pair.postReceive(
              new ReceiveWorkRequest()
                  .wrId(RECEIVE | next)
                  .addSge(side.region.address(), GRH + BYTES, side.region.lkey()));
          receives.add(RECEIVE | next++);
        }
        while (!refused && !failed && sends.size() < WINDOW) {
          SendWorkRequest send =
              new SendWorkRequest()
                  .wrId(next)
                  .opcode(WrOpcode.SEND)
                  .flags(SendFlag.SIGNALED)
                  .addSge(side.region.address(), kind == Kind.UD ? 200 : BYTES, side.region.lkey());
          if (kind == Kind.UD) {
            send.ah(peerHandle).remoteQpn(peerNumber).remoteQkey(QKEY);
          }
          pair.postSend(send);
          sends.add(next++);
        }
      } catch (VerbsException e) {
        if (e.errno() != Errno.EIO) {
          problems.add("posting to " + this + ": " + e);
        }
        refused = true;
      }
    }

    int poll() {
      if (exhausted) {
        return 0;
      }
      int count;
      try {
        count = queue.poll(side.batch);
      } catch (VerbsException e) {
        if (e.errno() != Errno.EIO) {
          problems.add("polling " + this + ": " + e);
        }
        exhausted = true;
        refused = true;
        return 1;
      }
      for (int i = 0; i < count; i++) {
        complete(side.batch[i]);
      }
      return count;
    }

    private void complete(WorkCompletion completion) {
      boolean receive = (completion.wrId() & RECEIVE) != 0;
      boolean expected;
      if (receive && kind == Kind.RC_WITH_SRQ) {
        expected = side.sharedReceives.remove(completion.wrId());
      } else {
        Long head = (receive ? receives : sends).poll();
        expected = head != null && head == completion.wrId();
      }
      if (!expected) {
        problems.add("completed twice or out of order on " + this + ": " + completion);
      }
      if (completion.status() == WcStatus.SUCCESS) {
        side.succeeded.incrementAndGet();
        if (receive && !busyOnce) {
          busyOnce = true;
          busy.countDown();
        }
      } else {
        failed = true;
        if (completion.status() == WcStatus.WR_FLUSH_ERR) {
          side.flushed.incrementAndGet();
        } else if (receive || completion.status() != WcStatus.RETRY_EXC_ERR) {
          problems.add("failed on " + this + ": " + completion);
        }
      }
    }

    @Override
    public String toString() {
      return kind + " " + pair.number() + " " + pair.state() + " " + sends.size() + "+" + receives.size()
          + (busyOnce ? "" : " silent") + (exhausted ? " exhausted" : refused ? " refused" : failed ? " failed" : "");
    }
  }
}
