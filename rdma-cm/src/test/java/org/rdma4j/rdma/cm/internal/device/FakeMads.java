package org.rdma4j.rdma.cm.internal.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.MadSendHandler;
import org.rdma4j.ib.core.mad.Mads;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.roce.address.Gid;

/** A MAD layer whose ports hear each other, on a thread that stands for those of all ports. */
final class FakeMads implements Mads, AutoCloseable {
  final Map<Gid, Agent> agents = new ConcurrentHashMap<>();
  final List<Sending> sendings = new CopyOnWriteArrayList<>();
  final List<MadRegistration> registrations = new ArrayList<>();
  final List<Agent> closed = new CopyOnWriteArrayList<>();
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("fake ports").factory());

  /** Whether MADs get lost. */
  volatile boolean deaf;

  /** The port that has no general services, 0 for none. */
  int refusing;

  @Override
  public MadAgent register(RdmaDevice device, int port, MadRegistration registration, MadReceiver receiver) {
    if (port == refusing) {
      throw new VerbsException(Errno.EINVAL, "refused");
    }
    registrations.add(registration);
    Agent agent = new Agent(((FakeDevice) device).gid(), receiver, registrations.size());
    agents.put(agent.gid, agent);
    return agent;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  final class Agent implements MadAgent {
    final Gid gid;
    private final MadReceiver receiver;
    private final int number;
    private boolean over;

    Agent(Gid gid, MadReceiver receiver, int number) {
      this.gid = gid;
      this.receiver = receiver;
      this.number = number;
    }

    @Override
    public int highTransactionId() {
      return number;
    }

    @Override
    public synchronized MadSend send(
        MemorySegment mad, MadAddress to, long milliseconds, int retries, MadSendHandler handler) {
      if (over) {
        throw new VerbsException(Errno.ENODEV, "the agent was closed");
      }
      Sending sending = new Sending(this, to, milliseconds, retries, handler);
      sendings.add(sending);
      MemorySegment copy = MemorySegment.ofArray(mad.toArray(ValueLayout.JAVA_BYTE));
      thread.execute(() -> carry(sending, copy));
      return sending;
    }

    private void carry(Sending sending, MemorySegment mad) {
      Agent peer = agents.get(sending.to.way().destinationGid());
      if (peer != null && !deaf) {
        int pkeyIndex = sending.to.pkeyIndex();
        peer.receiver.received(new ReceivedMad(mad, 1, pkeyIndex, gid, peer.gid, 0, 0, 64), Optional.empty());
        mad.fill((byte) 0xee); // It is the receiver's only until he returns.
      }
      if (sending.milliseconds == 0) {
        sending.complete(WcStatus.SUCCESS);
      }
    }

    @Override
    public synchronized void close() {
      over = true;
      agents.remove(gid, this);
      closed.add(this);
      sendings.stream().filter(each -> each.from == this).forEach(MadSend::cancel);
    }
  }

  /** A MAD that was sent. */
  final class Sending implements MadSend {
    final MadAddress to;
    final int retries;
    volatile long milliseconds;
    private final Agent from;
    private final MadSendHandler handler;
    private int retried;
    private WcStatus status;

    Sending(Agent from, MadAddress to, long milliseconds, int retries, MadSendHandler handler) {
      this.from = from;
      this.to = to;
      this.milliseconds = milliseconds;
      this.retries = retries;
      this.handler = handler;
    }

    /** No answer comes. */
    void exhaust() {
      synchronized (this) {
        retried = retries;
      }
      complete(WcStatus.RESP_TIMEOUT_ERR);
    }

    void complete(WcStatus how) {
      synchronized (this) {
        if (status != null) {
          return;
        }
        status = how;
      }
      thread.execute(() -> handler.sent(this, how));
    }

    synchronized WcStatus status() {
      return status;
    }

    @Override
    public void cancel() {
      complete(WcStatus.WR_FLUSH_ERR);
    }

    @Override
    public void timeout(long other) {
      milliseconds = other;
    }

    @Override
    public synchronized int retried() {
      return retried;
    }
  }
}
