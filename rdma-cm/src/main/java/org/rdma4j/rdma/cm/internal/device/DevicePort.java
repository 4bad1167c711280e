package org.rdma4j.rdma.cm.internal.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.rdma.cm.ib.CmAddress;
import org.rdma4j.rdma.cm.ib.CmCounters;
import org.rdma4j.rdma.cm.ib.CmPort;
import org.rdma4j.rdma.cm.ib.CmTimer;
import org.rdma4j.rdma.cm.ib.IbCm;
import org.rdma4j.rdma.cm.ib.ReceivedCm;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.roce.address.Gid;

/**
 * A port of a device and its MAD agent (kernel: {@code struct cm_port}). Ids may outlive the device; from the removal
 * on all that they send is refused with ENODEV, and nothing of the device is held here.
 */
final class DevicePort implements CmPort {
  private static final MadRegistration MESSAGES =
      new MadRegistration(MadHeader.CLASS_CM, MadHeader.CLASS_VERSION_CM, Set.of(MadHeader.METHOD_SEND));

  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final String name;
  private final int number;
  private final long nodeGuid;
  private final int ackDelay;
  private final Object identity;
  private final IbCm manager;
  private final CmTimer timer;
  private final CmCounters counters = new CmCounters();
  private final int highTransactionId;
  private final AtomicInteger underway = new AtomicInteger(); // messages that are not complete; guarded by itself
  private volatile RdmaDevice device; // null when it goes
  private volatile MadAgent agent; // null when it has gone

  /** Makes the agent; throws what the MAD layer does. */
  DevicePort(RdmaDevice device, int number, Object identity, Mads mads, IbCm manager, CmTimer timer) {
    this.name = device.name() + "/" + number;
    this.number = number;
    this.nodeGuid = device.nodeGuid().value();
    this.ackDelay = device.attributes().localCaAckDelay();
    this.identity = identity;
    this.manager = manager;
    this.timer = timer;
    this.device = device;
    MadAgent made = mads.register(device, number, MESSAGES, (mad, asked) -> received(mad));
    this.highTransactionId = made.highTransactionId();
    this.agent = made;
  }

  @Override
  public long nodeGuid() {
    return nodeGuid;
  }

  @Override
  public Gid gid() {
    RdmaDevice present = device;
    List<GidEntry> all = present == null ? List.of() : present.gidTable(number).entries();
    return all.isEmpty() ? Gid.ZERO : all.getFirst().gid();
  }

  @Override
  public int ackDelay() {
    return ackDelay;
  }

  @Override
  public int highTransactionId() {
    return highTransactionId;
  }

  @Override
  public Object device() {
    return identity;
  }

  @Override
  public CmCounters counters() {
    return counters;
  }

  @Override
  public void send(MemorySegment mad, CmAddress to) {
    post(mad, to, 0, 0, null);
  }

  @Override
  public Outstanding send(MemorySegment mad, CmAddress to, long milliseconds, int retries, Runnable exhausted) {
    MadSend send = post(mad, to, milliseconds, retries, exhausted);
    return new Outstanding() {
      @Override
      public void cancel() {
        send.cancel();
      }

      @Override
      public void extend(long longer) {
        send.timeout(longer);
      }
    };
  }

  /** The receiver of what becomes of it runs on the port's own thread, so the rest is the manager's. */
  private MadSend post(MemorySegment mad, CmAddress to, long milliseconds, int retries, Runnable exhausted) {
    CmAttribute kind = CmAttribute.of(MadHeader.ATTRIBUTE_ID.getInt(mad)).orElseThrow();
    MadAgent sender = agent;
    MadAddress address = new MadAddress(way(to), pkeyIndex(to));
    if (sender == null) {
      throw gone();
    }
    synchronized (underway) {
      underway.incrementAndGet();
    }
    boolean taken = false;
    try {
      MadSend send = post(sender, kind, mad, address, milliseconds, retries, exhausted);
      taken = true;
      return send;
    } finally {
      if (!taken) {
        complete();
      }
    }
  }

  private MadSend post(
      MadAgent sender,
      CmAttribute kind,
      MemorySegment mad,
      MadAddress address,
      long milliseconds,
      int retries,
      Runnable exhausted) {
    return sender.send(
        mad,
        address,
        milliseconds,
        retries,
        (send, status) -> {
          complete();
          counters.countRetries(kind, send.retried());
          if (exhausted != null && status != WcStatus.SUCCESS && status != WcStatus.WR_FLUSH_ERR) {
            timer.execute(exhausted);
          }
        });
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int pkeyIndex(CmAddress to) {
    int index = present().findPkey(number, to.pkey());
    if (index < 0) {
      throw new VerbsException(Errno.EINVAL, "port %s has no P_Key %#06x".formatted(name, to.pkey()));
    }
    return index;
  }

  @Override
  public AhAttributes way(CmAddress to) {
    for (GidEntry each : present().gidTable(number).entries()) {
      if (each.type() == GidType.ROCE_V2 && each.gid().equals(to.local())) {
        return new AhAttributes(number, to.remote(), each.index())
            .withFlowLabel(to.flowLabel())
            .withTrafficClass(to.trafficClass())
            .withHopLimit(to.hopLimit())
            .withServiceLevel(to.serviceLevel());
      }
    }
    throw new VerbsException(Errno.EADDRNOTAVAIL, "%s is no RoCE v2 GID of port %s".formatted(to.local(), name));
  }

  private RdmaDevice present() {
    RdmaDevice present = device;
    if (present == null) {
      throw gone();
    }
    return present;
  }

  private VerbsException gone() {
    return new VerbsException(Errno.ENODEV, "port " + name + ": the device was removed");
  }

  private void received(ReceivedMad received) {
    RdmaDevice present = device;
    if (present == null) {
      return;
    }
    CmAddress from =
        new CmAddress(
            received.destination(),
            received.source(),
            present.pkey(number, received.pkeyIndex()),
            received.trafficClass(),
            received.flowLabel(),
            received.hopLimit(),
            0);
    MemorySegment mad = MemorySegment.ofArray(received.mad().toArray(ValueLayout.JAVA_BYTE));
    manager.receive(this, new ReceivedCm(mad, from));
  }

  private void complete() {
    synchronized (underway) {
      if (underway.decrementAndGet() == 0) {
        underway.notifyAll();
      }
    }
  }

  /** Waits, not for long, until what was sent has left and nobody waits for an answer any more. */
  void awaitSent() {
    long end = System.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    synchronized (underway) {
      long left = PATIENCE_NANOS;
      while (underway.get() > 0 && left > 0 && !interrupted) {
        try {
          TimeUnit.NANOSECONDS.timedWait(underway, left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = end - System.nanoTime();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  void goDown() {
    device = null;
  }

  /** All messages complete as flushed. */
  void close() {
    goDown();
    MadAgent last = agent;
    agent = null;
    if (last != null) {
      last.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
