package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.MadSendHandler;
import org.rdma4j.ib.core.mad.ReceivedMad;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agents of a port and their MADs, without the queue pair and without a clock of its own (kernel: mad.c). It is its
 * own lock. Handlers are only called by {@link #runCalls}.
 */
final class MadEngine {
  private static final Logger LOG = LoggerFactory.getLogger(MadEngine.class);

  /** What takes MADs to the wire. */
  interface Wire {
    /** Takes a MAD; {@link MadEngine#sent} follows. Throws where it cannot. */
    void post(PendingMad mad);

    /** The way back to who sent a MAD. */
    MadAddress back(ReceivedMad mad);

    /** There is something to do for the thread that runs the engine. */
    void wake();

    /** Whether the caller is that thread. */
    boolean isCurrent();
  }

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Comparator<PendingMad> BY_DEADLINE =
      Comparator.<PendingMad>comparingLong(pending -> pending.deadline).thenComparingLong(pending -> pending.order);

  private final Wire wire;
  private final int depth;
  private final LongSupplier milliseconds;
  private final AgentTable agents = new AgentTable();
  private final Deque<PendingMad> queued = new ArrayDeque<>();
  private final NavigableSet<PendingMad> waiting = new TreeSet<>(BY_DEADLINE);
  private final Deque<PendingMad> again = new ArrayDeque<>(); // flushed with another, to be sent when the wire is back
  private final Deque<Runnable> calls = new ArrayDeque<>();
  private int posted;
  private long order;
  private boolean closed;

  /**
   * Makes one without agents.
   *
   * @param depth how many MADs the wire has at once
   * @param milliseconds the time
   */
  MadEngine(Wire wire, int depth, LongSupplier milliseconds) {
    this.wire = wire;
    this.depth = depth;
    this.milliseconds = milliseconds;
  }

  synchronized MadAgentImpl register(MadRegistration registration, MadReceiver receiver) {
    checkOpen();
    return agents.add(this, registration, receiver);
  }

  synchronized boolean isEmpty() {
    return agents.isEmpty();
  }

  private void checkOpen() {
    if (closed) {
      throw new VerbsException(Errno.ENODEV, "the device was removed");
    }
  }

  synchronized MadSend send(
      MadAgentImpl agent, MemorySegment mad, MadAddress to, long timeout, int retries, MadSendHandler handler) {
    checkOpen();
    if (agent.closed) {
      throw new VerbsException(Errno.ENODEV, "the agent was closed");
    }
    if (mad.byteSize() != MadHeader.MAD_BYTES || timeout < 0 || retries < 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "send of a MAD of %d bytes, %d ms, %d retries: it has 256 bytes, and neither is negative"
              .formatted(mad.byteSize(), timeout, retries));
    }
    PendingMad pending = new PendingMad(agent, mad, to, timeout, retries, handler, order++);
    agent.pending.add(pending);
    queued.add(pending);
    pump();
    return pending;
  }

  /** Gives the wire what it has room for. */
  private void pump() {
    while (posted < depth && !queued.isEmpty()) {
      PendingMad next = queued.remove();
      next.place = PendingMad.Place.POSTED;
      posted++;
      try {
        wire.post(next);
      } catch (VerbsException e) {
        LOG.debug("a MAD could not be posted", e);
        posted--;
        finish(next, next.cancelled ? WcStatus.WR_FLUSH_ERR : WcStatus.LOC_QP_OP_ERR);
      }
    }
  }

  /** The wire has sent a MAD, or could not. */
  synchronized void sent(PendingMad pending, WcStatus status) {
    posted--;
    if (pending.place == PendingMad.Place.POSTED) {
      if (pending.cancelled) {
        finish(pending, WcStatus.WR_FLUSH_ERR);
      } else if (status == WcStatus.WR_FLUSH_ERR && !pending.answered && !closed) {
        // Another send has failed and this one with it; the queue pair begins anew (kernel: ib_mad_send_error).
        pending.place = PendingMad.Place.QUEUED;
        again.add(pending);
      } else if (status != WcStatus.SUCCESS || pending.answered || pending.milliseconds == 0) {
        finish(pending, status);
      } else {
        await(pending);
      }
    }
    pump();
  }

  /** The wire works again after it had failed; what was flushed with what failed goes first, in its order. */
  synchronized void begunAnew() {
    while (!again.isEmpty()) {
      queued.addFirst(again.removeLast());
    }
    pump();
  }

  private void await(PendingMad pending) {
    pending.place = PendingMad.Place.WAITING;
    pending.deadline = milliseconds.getAsLong() + pending.milliseconds;
    waiting.add(pending);
  }

  /** Sends again whose answers are late. */
  synchronized void expire() {
    long now = milliseconds.getAsLong();
    while (!waiting.isEmpty() && waiting.first().deadline <= now) {
      PendingMad late = waiting.pollFirst();
      if (late.left > 0) {
        late.left--;
        late.retried++;
        late.place = PendingMad.Place.QUEUED;
        queued.add(late);
      } else {
        finish(late, WcStatus.RESP_TIMEOUT_ERR);
      }
    }
    pump();
  }

  /** When {@link #expire} has something to do, or -1. */
  synchronized long nextDeadline() {
    return waiting.isEmpty() ? -1 : waiting.first().deadline;
  }

  private void finish(PendingMad pending, WcStatus status) {
    pending.place = PendingMad.Place.DONE;
    pending.agent.pending.remove(pending);
    call(pending.agent, () -> pending.handler.sent(pending, status));
  }

  /** What was not sent yet is sent all the same, once: a DREQ whose answer nobody waits for, for one. */
  synchronized void cancel(PendingMad pending) {
    switch (pending.place) {
      case QUEUED -> {
        pending.cancelled = true;
        if (pending.retried > 0) {
          queued.remove(pending);
          again.remove(pending);
          finish(pending, WcStatus.WR_FLUSH_ERR);
        }
      }
      case WAITING -> {
        waiting.remove(pending);
        finish(pending, WcStatus.WR_FLUSH_ERR);
      }
      case POSTED -> pending.cancelled = true;
      case DONE -> {
        // Too late.
      }
    }
  }

  synchronized void timeout(PendingMad pending, long newMilliseconds) {
    if (newMilliseconds == 0) {
      cancel(pending);
      return;
    }
    pending.milliseconds = newMilliseconds;
    if (pending.place == PendingMad.Place.WAITING) {
      waiting.remove(pending);
      await(pending);
      wire.wake();
    }
  }

  /** A MAD came; what is not for anybody here is dropped, but who asks for something gets an answer. */
  synchronized void received(ReceivedMad received) {
    MemorySegment mad = received.mad();
    if (!isValid(mad)) {
      return;
    }
    if (isResponse(mad)) {
      answer(received);
      return;
    }
    MadAgentImpl agent = agents.wanting(mad);
    if (agent != null) {
      call(agent, () -> agent.receiver().received(received, Optional.empty()));
    } else {
      refuse(received);
    }
  }

  private static boolean isValid(MemorySegment mad) {
    if (MadHeader.BASE_VERSION.getInt(mad) != MadHeader.BASE_VERSION_1) {
      return false;
    }
    return switch (MadHeader.MANAGEMENT_CLASS.getInt(mad)) {
      case AgentTable.CLASS_SUBN_LID_ROUTED, AgentTable.CLASS_SUBN_DIRECTED -> false;
      case MadHeader.CLASS_CM ->
          MadHeader.METHOD.getInt(mad) == MadHeader.METHOD_SEND
              || MadHeader.ATTRIBUTE_ID.getInt(mad) == MadHeader.ATTRIBUTE_CLASS_PORT_INFO;
      default -> true;
    };
  }

  private static boolean isResponse(MemorySegment mad) {
    int method = MadHeader.METHOD.getInt(mad);
    return (method & MadHeader.RESPONSE) != 0 || method == MadHeader.METHOD_TRAP_REPRESS;
  }

  private void answer(ReceivedMad received) {
    long transaction = MadHeader.TRANSACTION_ID.get(received.mad());
    MadAgentImpl agent = agents.byTransaction((int) (transaction >>> Integer.SIZE));
    if (agent == null) {
      return;
    }
    for (PendingMad pending : agent.pending) {
      boolean its =
          MadHeader.TRANSACTION_ID.get(pending.mad) == transaction
              && MadHeader.MANAGEMENT_CLASS.get(pending.mad) == MadHeader.MANAGEMENT_CLASS.get(received.mad());
      if (its && !pending.answered && !pending.cancelled) {
        call(agent, () -> agent.receiver().received(received, Optional.of(pending)));
        answered(pending);
        return;
      }
    }
  }

  private void answered(PendingMad pending) {
    pending.answered = true;
    if (pending.place == PendingMad.Place.WAITING) {
      waiting.remove(pending);
      finish(pending, WcStatus.SUCCESS);
    } else if (pending.place == PendingMad.Place.QUEUED) {
      queued.remove(pending);
      again.remove(pending);
      finish(pending, WcStatus.SUCCESS);
    }
  }

  private void refuse(ReceivedMad received) {
    int method = MadHeader.METHOD.getInt(received.mad());
    if (method != MadHeader.METHOD_GET && method != MadHeader.METHOD_SET) {
      return;
    }
    MemorySegment response = MemorySegment.ofArray(received.mad().toArray(ValueLayout.JAVA_BYTE));
    MadHeader.METHOD.set(response, MadHeader.METHOD_GET_RESP);
    MadHeader.STATUS.set(response, MadHeader.STATUS_UNSUPPORTED_METHOD_ATTRIBUTE);
    PendingMad pending =
        new PendingMad(agents.core(this), response, wire.back(received), 0, 0, (send, status) -> {}, order++);
    pending.agent.pending.add(pending);
    queued.add(pending);
    pump();
  }

  void unregister(MadAgentImpl agent) {
    boolean interrupted = false;
    synchronized (this) {
      agent.closed = true;
      agents.remove(agent);
      List.copyOf(agent.pending).forEach(this::cancel);
      wire.wake();
      long end = System.nanoTime() + PATIENCE_NANOS;
      while (!wire.isCurrent() && (agent.calls > 0 || !agent.pending.isEmpty())) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          // The device does not say what became of them; when it does nobody is told any more.
          List.copyOf(agent.pending).forEach(this::giveUp);
        }
        try {
          TimeUnit.NANOSECONDS.timedWait(this, left > 0 ? left : PATIENCE_NANOS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The device goes: all MADs complete as flushed, and no others are taken. */
  synchronized void close() {
    closed = true;
    List<PendingMad> all = new ArrayList<>();
    agents.all().forEach(agent -> all.addAll(agent.pending));
    all.forEach(this::giveUp);
  }

  private void giveUp(PendingMad pending) {
    if (pending.place != PendingMad.Place.DONE) {
      queued.remove(pending);
      again.remove(pending);
      waiting.remove(pending);
      finish(pending, WcStatus.WR_FLUSH_ERR);
    }
  }

  private void call(MadAgentImpl agent, Runnable work) {
    agent.calls++;
    calls.add(
        () -> {
          try {
            work.run();
          } catch (RuntimeException e) {
            LOG.error("a handler of MADs failed", e);
          } finally {
            synchronized (this) {
              agent.calls--;
              notifyAll();
            }
          }
        });
    wire.wake();
  }

  /** Calls the handlers of what has happened; on the thread that runs the engine, without the lock. */
  void runCalls() {
    Runnable next = nextCall();
    while (next != null) {
      next.run();
      next = nextCall();
    }
  }

  private synchronized Runnable nextCall() {
    return calls.poll();
  }
}
