package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.MadSendHandler;

/** A MAD on its way (kernel: {@code struct ib_mad_send_wr_private}). Guarded by the engine's lock. */
final class PendingMad implements MadSend {
  /** Where it is. */
  enum Place {
    /** Waits for room in the queue pair. */
    QUEUED,
    /** The queue pair has it. */
    POSTED,
    /** Waits for its answer. */
    WAITING,
    /** Complete. */
    DONE
  }

  final MadAgentImpl agent;
  final MemorySegment mad;
  final MadAddress to;
  final MadSendHandler handler;
  final long order;
  Place place = Place.QUEUED;
  long milliseconds;
  long deadline;
  int left;
  int retried;
  boolean answered;
  boolean cancelled;

  PendingMad(
      MadAgentImpl agent, MemorySegment mad, MadAddress to, long milliseconds, int retries, MadSendHandler handler,
      long order) {
    this.agent = agent;
    this.mad = MemorySegment.ofArray(mad.toArray(ValueLayout.JAVA_BYTE));
    this.to = to;
    this.milliseconds = milliseconds;
    this.left = retries;
    this.handler = handler;
    this.order = order;
  }

  @Override
  public void cancel() {
    agent.engine().cancel(this);
  }

  @Override
  public void timeout(long newMilliseconds) {
    agent.engine().timeout(this, newMilliseconds);
  }

  @Override
  public int retried() {
    synchronized (agent.engine()) {
      return retried;
    }
  }
}
