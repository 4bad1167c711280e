package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.ReceiveWork;
import org.rdma4j.roce.engine.XrcReceiveSource;

/**
 * A receive queue that many queue pairs take from: a linked list of entries in host memory, each of which names the
 * next. A receive memory pool, or the shared queue of an XRC domain, which brings its own completion queue. Engine
 * thread.
 */
final class SharedReceives implements XrcReceiveSource {
  /** Hears of queue pairs whose completions are lost. */
  interface Lost {
    void completion(int qpNumber, CompletionQueue queue);
  }

  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int COUNT_MASK = 0xffff;
  private static final int HEAD = 16;

  private final int number;
  private final SrqShape shape;
  private final Events events;
  private final PciHost host;
  private final Lost lost;
  private final DoorbellRecord record;
  private final MemorySegment entry;
  private int posted;
  private int taken;
  private int head;
  private int limit;
  private int users;
  private boolean broken;
  private boolean ended;
  private long starved;

  /** {@code lost} is told of queue pairs whose completions the queue's own completion queue does not take. */
  SharedReceives(int number, SrqShape shape, int limit, Events events, PciHost host, Lost lost) {
    this.number = number;
    this.shape = shape;
    this.limit = limit;
    this.events = events;
    this.host = host;
    this.lost = lost;
    this.record = new DoorbellRecord(host, shape.doorbellRecord());
    this.entry = Arena.ofAuto().allocate(shape.stride(), Long.BYTES);
    if (shape.completions() != null) {
      shape.completions().use();
    }
  }

  int number() {
    return number;
  }

  SrqShape shape() {
    return shape;
  }

  boolean isBroken() {
    return broken;
  }

  int limit() {
    return limit;
  }

  /** Arms the event for when fewer receives are left. */
  void limit(int fewer) {
    limit = fewer;
    checkLimit();
  }

  int posted() {
    return posted;
  }

  int taken() {
    return taken & COUNT_MASK;
  }

  int users() {
    return users;
  }

  void use() {
    users++;
  }

  void unuse() {
    users--;
  }

  long starved() {
    return starved;
  }

  void end() {
    ended = true;
    if (shape.completions() != null) {
      shape.completions().unuse();
    }
  }

  @Override
  public boolean take(ReceiveWork work) {
    if (broken || ended) {
      return false;
    }
    try {
      if ((posted - taken & COUNT_MASK) == 0) {
        posted = record.read(DoorbellRecord.RECEIVE);
        if ((posted - taken & COUNT_MASK) == 0) {
          starved++;
          return false;
        }
      }
      if ((posted - taken & COUNT_MASK) > shape.count()) {
        fail();
        return false;
      }
      shape.buffer().read(host, (long) head * shape.stride(), entry, 0, shape.stride());
    } catch (DmaFault e) {
      fail();
      return false;
    }
    work.id = head;
    ReceiveReader.read(entry, HEAD, shape.stride(), work);
    head = entry.get(DWORD, 0) & shape.count() - 1;
    taken++;
    checkLimit();
    return true;
  }

  private void checkLimit() {
    if (limit == 0 || broken) {
      return;
    }
    try {
      posted = record.read(DoorbellRecord.RECEIVE);
    } catch (DmaFault e) {
      fail();
      return;
    }
    if ((posted - taken & COUNT_MASK) < limit) {
      limit = 0;
      events.post(EventType.SRQ_LIMIT, number);
    }
  }

  private void fail() {
    broken = true;
    events.post(EventType.SRQ_CATASTROPHIC_ERROR, number);
  }

  @Override
  public int protectionDomain() {
    return shape.pd();
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    CompletionQueue queue = shape.completions();
    if (!ended && !CompletionWriter.receive(queue, completion, completion.qpNumber, number, solicited)) {
      lost.completion(completion.qpNumber, queue);
    }
  }
}
