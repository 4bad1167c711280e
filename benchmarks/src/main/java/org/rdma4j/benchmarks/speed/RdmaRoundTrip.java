package org.rdma4j.benchmarks.speed;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.function.BooleanSupplier;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.Gid;

/**
 * SENDs of 64 bytes, inline, back and forth, as {@code ib_send_lat} does them: either both sides poll their completion
 * queues, or both sleep until an event. Each message carries its number, which comes back.
 */
final class RdmaRoundTrip implements Workload {
  static final int SIZE = 64;
  private static final int DEPTH = 64;

  /** Unsignalled requests are released with the next signalled one. */
  private static final int SIGNAL_EVERY = 16;

  private final boolean events;
  private final RdmaEnd end;
  private final WorkCompletion[] batch = WorkCompletion.batch(DEPTH);
  private final ReceiveWorkRequest[] receives = new ReceiveWorkRequest[DEPTH];
  private final SendWorkRequest send;
  private final RoundTrips times = new RoundTrips();
  private QueuePair qp;
  private long sent;
  private Service service;

  RdmaRoundTrip(Gid local, Gid remote, boolean events) {
    this.events = events;
    end = new RdmaEnd(local, remote, 1, DEPTH, (DEPTH + 1) * SIZE);
    send = new SendWorkRequest().inlineData(end.memory.asSlice(DEPTH * SIZE, SIZE));
  }

  @Override
  public Settings describe() {
    return end.describe();
  }

  @Override
  public void connect(Settings peer) {
    end.connect(peer);
    qp = end.queuePairs.getFirst();
    for (int i = 0; i < DEPTH; i++) {
      receives[i] =
          new ReceiveWorkRequest()
              .wrId(i)
              .addSge(end.region.address() + (long) i * SIZE, SIZE, end.region.lkey());
      qp.postReceive(receives[i]);
    }
  }

  @Override
  public void serve(int seed) {
    end.repeats();
    service = new Service(this::echo);
  }

  private void echo(BooleanSupplier goesOn) {
    while (true) {
      long number = receive(goesOn);
      if (number < 0) {
        return;
      }
      send(number);
    }
  }

  /** Waits for a message and returns its number, or -1 when it is time to stop. */
  private long receive(BooleanSupplier goesOn) {
    int polls = 0;
    while (goesOn.getAsBoolean()) {
      int count =
          events
              ? end.pollOrSleep(end.receiveCq, batch)
              : RdmaEnd.requireSuccess(batch, end.receiveCq.poll(batch));
      if (count > 0) {
        int slot = (int) batch[0].wrId();
        long number = end.memory.get(JAVA_LONG, (long) slot * SIZE);
        qp.postReceive(receives[slot]);
        return number;
      }
      if (!events) {
        Service.pause(++polls);
      }
    }
    return -1;
  }

  private void send(long number) {
    end.memory.set(JAVA_LONG, DEPTH * SIZE, number);
    boolean signalled = ++sent % SIGNAL_EVERY == 0;
    if (signalled) {
      RdmaEnd.requireSuccess(batch, end.sendCq.poll(batch));
    }
    qp.postSend(send.flags(SendFlag.INLINE | (signalled ? SendFlag.SIGNALED : 0)));
  }

  @Override
  public Settings finish() {
    service.stop();
    return end.repeats();
  }

  @Override
  public Settings run(long nanos, int seed) {
    end.repeats();
    times.clear();
    long number = (long) seed << 32;
    long start = System.nanoTime();
    long stop = start + nanos;
    boolean more = true;
    while (more && start < stop) {
      send(++number);
      long back = receive(() -> true);
      if (back != number) {
        throw new IllegalStateException("message " + back + " came back where " + number + " was due");
      }
      long now = System.nanoTime();
      more = times.add(now - start);
      start = now;
    }
    return times.result().with(end.repeats());
  }

  @Override
  public void close() {
    end.close();
  }
}
