package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.packet.Grh;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue pair 1 of a port and the thread that runs its MADs (kernel: {@code struct ib_mad_port_private}). It is
 * there as long as the port has agents.
 */
final class MadPort implements MadEngine.Wire {
  private static final Logger LOG = LoggerFactory.getLogger(MadPort.class);
  private static final int RECEIVES = 512;
  private static final int SENDS = 128;
  private static final long SEND = 1L << 32;
  private static final int BATCH = 16;
  private static final Duration DRAIN = Duration.ofSeconds(5);

  private final Context context;
  private final int number;
  private final MadEngine engine =
      new MadEngine(this, SENDS, () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  private final MadBuffers buffers = new MadBuffers(RECEIVES, SENDS);
  private final PendingMad[] sending = new PendingMad[SENDS]; // guarded by the engine
  private final AddressHandle[] handles = new AddressHandle[SENDS];
  private final int[] free = new int[SENDS];
  private int freeCount;
  private final WorkCompletion[] batch = WorkCompletion.batch(BATCH);
  private final Thread thread;
  private final ProtectionDomain pd;
  private final CompletionQueue cq;
  private final QueuePair qp;
  private final Deque<VerbsObject> objects = new ArrayDeque<>(); // last first
  private boolean flushed;
  private volatile boolean stopping;

  /** Makes the queue pair and starts the thread. */
  MadPort(Context context, int number) {
    this.context = context;
    this.number = number;
    for (int slot = 0; slot < SENDS; slot++) {
      free[freeCount++] = slot;
    }
    this.thread =
        Thread.ofPlatform().daemon().name("ib_mad%d %s".formatted(number, context.deviceName())).unstarted(this::run);
    boolean made = false;
    try {
      pd = made(context.allocatePd());
      made(buffers.register(pd));
      CompletionChannel channel = made(context.createCompletionChannel());
      cq = made(context.createCq(RECEIVES + SENDS, channel, 0));
      QpCapabilities sizes = new QpCapabilities(SENDS, RECEIVES, 1, 1, 0);
      qp = made(pd.createQp(new QpInitAttributes(QpType.GSI).sendCq(cq).recvCq(cq).capabilities(sizes).port(number)));
      channel.setHandler(queue -> wake());
      ready();
      made = true;
    } finally {
      if (!made) {
        release();
      }
    }
    thread.start();
  }

  private <T extends VerbsObject> T made(T object) {
    objects.push(object);
    return object;
  }

  /** Destroys what was made, last first; what went with the device has gone. */
  private void release() {
    for (VerbsObject each : objects) {
      try {
        each.close();
      } catch (VerbsException e) {
        LOG.debug("{}, port {}: {} is left to the device", context.deviceName(), number, each, e);
      }
    }
    buffers.close();
  }

  MadEngine engine() {
    return engine;
  }

  private void ready() {
    qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).qkey(MadAddress.QKEY));
    qp.modify(new QpAttributes().state(QpState.RTR));
    qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
    for (int i = 0; i < RECEIVES; i++) {
      receive(i);
    }
  }

  private void receive(int index) {
    qp.postReceive(
        new ReceiveWorkRequest()
            .wrId(index)
            .addSge(buffers.receiveAddress(index), buffers.receiveLength(), buffers.lkey()));
  }

  @Override
  public void post(PendingMad mad) {
    AddressHandle handle = pd.createAh(mad.to.way());
    int slot = free[--freeCount];
    MemorySegment.copy(mad.mad, 0, buffers.send(slot), 0, MadHeader.MAD_BYTES);
    sending[slot] = mad;
    handles[slot] = handle;
    try {
      qp.postSend(
          new SendWorkRequest()
              .wrId(SEND | slot)
              .flags(SendFlag.SIGNALED)
              .ah(handle)
              .remoteQpn(mad.to.remoteQpn())
              .remoteQkey(mad.to.remoteQkey())
              .pkeyIndex(mad.to.pkeyIndex())
              .addSge(buffers.send(slot).address(), MadHeader.MAD_BYTES, buffers.lkey()));
    } catch (VerbsException e) {
      release(slot);
      throw e;
    }
  }

  /** Takes a MAD out of its slot. */
  private PendingMad release(int slot) {
    PendingMad mad = sending[slot];
    sending[slot] = null;
    handles[slot].close();
    handles[slot] = null;
    free[freeCount++] = slot;
    return mad;
  }

  @Override
  public MadAddress back(ReceivedMad mad) {
    GidEntry entry = context.device().gidTable(number).find(mad.destination());
    if (entry == null) {
      throw new VerbsException(Errno.EADDRNOTAVAIL, mad.destination() + " is no GID of the port any more");
    }
    AhAttributes way =
        new AhAttributes(number, mad.source(), entry.index())
            .withFlowLabel(mad.flowLabel())
            .withTrafficClass(mad.trafficClass());
    return new MadAddress(way, mad.sourceQp(), MadAddress.QKEY, mad.pkeyIndex());
  }

  @Override
  public void wake() {
    LockSupport.unpark(thread);
  }

  @Override
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  private void run() {
    try {
      while (!stopping) {
        work();
      }
    } catch (VerbsException e) {
      if (stopping || e.errno() == Errno.EIO) {
        LOG.debug("{}, port {}: the device goes", context.deviceName(), number, e);
      } else {
        LOG.error("{}, port {}: no MADs any more", context.deviceName(), number, e);
      }
    } finally {
      end();
    }
  }

  private void work() {
    int found = poll();
    engine.expire();
    engine.runCalls();
    if (found > 0 || stopping) {
      return;
    }
    if (flushed) {
      recover();
    } else if (!cq.requestNotify(CqNotify.NEXT_COMP, true)) {
      long deadline = engine.nextDeadline();
      if (deadline < 0) {
        LockSupport.park(this);
      } else {
        long left = deadline - TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(Math.max(0, left)));
      }
    }
  }

  private int poll() {
    int all = 0;
    int count = cq.poll(batch);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        take(batch[i]);
      }
      all += count;
      engine.runCalls();
      count = cq.poll(batch);
    }
    return all;
  }

  private void take(WorkCompletion completion) {
    if ((completion.wrId() & SEND) != 0) {
      synchronized (engine) {
        engine.sent(release((int) (completion.wrId() & ~SEND)), completion.status());
      }
      flushed |= completion.status() != WcStatus.SUCCESS;
    } else if (completion.status() == WcStatus.SUCCESS) {
      int index = (int) completion.wrId();
      if (completion.byteLength() == buffers.receiveLength() && (completion.flags() & WcFlag.GRH) != 0) {
        received(completion, buffers.receive(index));
        engine.runCalls();
      }
      receive(index);
    } else {
      flushed = true;
    }
  }

  private void received(WorkCompletion completion, MemorySegment memory) {
    ReceivedMad mad =
        new ReceivedMad(
            memory.asSlice(Grh.LENGTH),
            completion.sourceQp(),
            completion.pkeyIndex(),
            Grh.source(memory, 0),
            Grh.destination(memory, 0),
            Grh.trafficClass(memory, 0),
            Grh.flowLabel(memory, 0),
            Grh.hopLimit(memory, 0));
    try {
      engine.received(mad);
    } catch (VerbsException e) {
      LOG.debug("{} is dropped", mad, e);
    }
  }

  /** After an error of a send the queue pair begins anew; what it had was flushed. */
  private void recover() {
    flushed = false;
    if (qp.query().state() == QpState.ERR) {
      LOG.warn("{}, port {}: the queue pair of MADs failed and begins anew", context.deviceName(), number);
      qp.modify(new QpAttributes().state(QpState.RESET));
      ready();
    }
    engine.begunAnew();
  }

  /** Ends it; when the call returns everything is gone, unless it comes from a handler of its own. */
  void close() {
    stopping = true;
    wake();
    boolean interrupted = false;
    while (!isCurrent() && thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() {
    try {
      qp.drain(DRAIN);
      poll();
    } catch (VerbsException e) {
      LOG.debug("{}, port {}: not drained", context.deviceName(), number, e);
    }
    engine.close();
    engine.runCalls();
    for (int slot = 0; slot < SENDS; slot++) {
      if (handles[slot] != null) {
        handles[slot].close();
      }
    }
    release();
  }
}
