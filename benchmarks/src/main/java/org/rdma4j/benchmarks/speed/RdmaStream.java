package org.rdma4j.benchmarks.speed;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/**
 * Messages of one size as fast as they go, over one or several queue pairs; both sides poll. Requests are posted in
 * chains of which the last one is signalled. Each SEND has its own slot of memory; WRITEs and READs share a few, as in
 * {@code ib_write_bw}, which uses one buffer for all.
 *
 * <p>The payload depends on the slice. Messages of SEND carry their number, which the receiver checks of each; the
 * rest of the payload it checks of every 64th. What WRITE and READ leave behind is compared in full after the slice.
 */
final class RdmaStream implements Workload {
  private static final int POLL_BATCH = 32;
  private static final int SHARED_SLOTS = 4;

  /** As in {@code ib_send_bw}: the receiver's queue is that much deeper, so that reposting keeps ahead. */
  private static final int RECEIVES_PER_SEND = 4;

  private static final int FULL_CHECK_EVERY = 64;
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private final WrOpcode opcode;
  private final int size;
  private final int depth;
  private final int chain;
  private final int slots;
  private final RdmaEnd end;
  private final WorkCompletion[] batch = WorkCompletion.batch(POLL_BATCH);
  private final MemorySegment expected;
  private final SendWorkRequest[] sends; // first of each chain
  private final ReceiveWorkRequest[] receives; // first of each chain
  private final long[] nextNumber;
  private int polls;
  private Service service;

  /**
   * Makes a side.
   *
   * @param size bytes of a message
   * @param count number of queue pairs
   * @param depth requests under way on each
   * @param chain requests posted at once; divides the depth
   * @param loss how many of the packets get lost, from 0 to 1
   */
  RdmaStream(Gid local, Gid remote, WrOpcode opcode, int size, int count, int depth, int chain, double loss) {
    this(
        new RdmaEnd(
            local, remote, count, RECEIVES_PER_SEND * depth,
            (long) RECEIVES_PER_SEND * slots(opcode, count, depth) * size, loss),
        opcode, size, count, depth, chain);
  }

  /**
   * Makes a side of WRITEs on an end that is there.
   *
   * @param end with one queue pair that takes as many requests, and memory for four messages; becomes its own
   */
  RdmaStream(RdmaEnd end, int size, int depth, int chain) {
    this(end, WrOpcode.RDMA_WRITE, size, 1, depth, chain);
  }

  private RdmaStream(RdmaEnd end, WrOpcode opcode, int size, int count, int depth, int chain) {
    this.end = end;
    this.opcode = opcode;
    this.size = size;
    this.depth = depth;
    this.chain = chain;
    this.slots = slots(opcode, count, depth);
    this.expected = Arena.ofAuto().allocate(size, 64);
    this.sends = new SendWorkRequest[count * depth / chain];
    this.receives = new ReceiveWorkRequest[RECEIVES_PER_SEND * count * depth / chain];
    this.nextNumber = new long[count];
  }

  private static int slots(WrOpcode opcode, int count, int depth) {
    return opcode == WrOpcode.SEND ? count * depth : SHARED_SLOTS;
  }

  private boolean isSend() {
    return opcode == WrOpcode.SEND;
  }

  private MemorySegment slot(int index) {
    return end.memory.asSlice((long) index * size, size);
  }

  @Override
  public Settings describe() {
    return end.describe();
  }

  @Override
  public void connect(Settings peer) {
    end.connect(peer);
    for (int i = sends.length * chain - 1; i >= 0; i--) {
      boolean last = i % chain == chain - 1;
      long offset = (long) (i % slots) * size;
      SendWorkRequest request =
          new SendWorkRequest()
              .wrId(i / chain)
              .opcode(opcode)
              .flags(last ? SendFlag.SIGNALED : 0)
              .addSge(end.region.address() + offset, size, end.region.lkey())
              .next(last ? null : sends[i / chain]);
      if (!isSend()) {
        request.remoteAddress(peer.get("address") + offset).rkey((int) peer.get("rkey"));
      }
      sends[i / chain] = request;
    }
    for (int i = isSend() ? receives.length * chain - 1 : -1; i >= 0; i--) {
      ReceiveWorkRequest request =
          new ReceiveWorkRequest()
              .wrId(i)
              .addSge(end.region.address() + (long) i * size, size, end.region.lkey())
              .next(i % chain == chain - 1 ? null : receives[i / chain]);
      receives[i / chain] = request;
    }
    if (isSend()) {
      for (int i = 0; i < receives.length; i++) {
        end.queuePairs.get(i * chain / (RECEIVES_PER_SEND * depth)).postReceive(receives[i]);
      }
    }
  }

  @Override
  public void serve(int seed) {
    Pattern.fill(expected, seed);
    end.repeats();
    switch (opcode) {
      case SEND -> service = new Service(this::receive);
      case RDMA_READ -> fillSlots();
      default -> end.memory.fill((byte) 0);
    }
  }

  private void fillSlots() {
    for (int i = 0; i < slots; i++) {
      slot(i).copyFrom(expected);
    }
  }

  private void verifySlots() {
    for (int i = 0; i < slots; i++) {
      Pattern.verify(expected, slot(i), 0, opcode + " in slot " + i);
    }
  }

  private void receive(BooleanSupplier goesOn) {
    boolean more = true;
    while (more) {
      // Asked before the poll: what a sender knows to be delivered is in the queue, and belongs to this slice.
      boolean last = !goesOn.getAsBoolean();
      int count = poll(end.receiveCq);
      for (int i = 0; i < count; i++) {
        onReceive((int) batch[i].wrId());
      }
      more = count > 0 || !last;
    }
  }

  private int poll(CompletionQueue cq) {
    int count = RdmaEnd.requireSuccess(batch, cq.poll(batch));
    polls = count > 0 ? 0 : polls + 1;
    if (count == 0) {
      Service.pause(polls);
    }
    return count;
  }

  private void onReceive(int slot) {
    int index = slot / (RECEIVES_PER_SEND * depth);
    long number = end.memory.get(JAVA_LONG, (long) slot * size);
    if (number != nextNumber[index]) {
      throw new IllegalStateException("message " + number + " came where " + nextNumber[index] + " was due");
    }
    nextNumber[index]++;
    if (number % FULL_CHECK_EVERY == 0) {
      Pattern.verify(expected, slot(slot), Long.BYTES, "message " + number);
    }
    if (slot % chain == chain - 1) {
      end.queuePairs.get(index).postReceive(receives[slot / chain]);
    }
  }

  @Override
  public Settings finish() {
    if (service != null) {
      service.stop();
      service = null;
    } else if (opcode == WrOpcode.RDMA_WRITE) {
      verifySlots();
    }
    return end.repeats();
  }

  @Override
  public Settings run(long nanos, int seed) {
    Pattern.fill(expected, seed);
    if (opcode == WrOpcode.RDMA_READ) {
      end.memory.fill((byte) 0);
    } else {
      fillSlots();
    }
    end.repeats();
    long start = System.nanoTime();
    long messages = 0;
    int underWay = 0;
    for (int i = 0; i < sends.length; i++) {
      post(i);
      underWay++;
    }
    long lastNews = start;
    while (underWay > 0) {
      int count = poll(end.sendCq);
      long now = System.nanoTime();
      lastNews = count > 0 ? now : lastNews;
      if (now - lastNews > PATIENCE_NANOS) {
        throw new IllegalStateException("no completion for 10 s, " + underWay + " chains are under way");
      }
      boolean goesOn = now - start < nanos;
      for (int i = 0; i < count; i++) {
        messages += chain;
        if (goesOn) {
          post((int) batch[i].wrId());
        } else {
          underWay--;
        }
      }
    }
    long elapsed = System.nanoTime() - start;
    if (opcode == WrOpcode.RDMA_READ) {
      verifySlots();
    }
    return new Settings()
        .with(NANOS, elapsed)
        .with(MESSAGES, messages)
        .with(BYTES, messages * size)
        .with(end.repeats());
  }

  private void post(int index) {
    int qp = index * chain / depth;
    if (isSend()) {
      for (int i = 0; i < chain; i++) {
        end.memory.set(JAVA_LONG, (long) (index * chain + i) * size, nextNumber[qp]++);
      }
    }
    end.queuePairs.get(qp).postSend(sends[index]);
  }

  @Override
  public void close() {
    end.close();
  }
}
