package org.rdma4j.it.container;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.CqNotify;
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
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/**
 * One end of a reliable connection that sends and receives numbered messages as fast as it can, on a thread of its own,
 * and keeps books: every work request must complete exactly once, in order, received messages must be the peer's next
 * with every byte right. What is wrong is told by {@link #problems()}. Beside it is a {@link QuietPair}, so something
 * is flushed when the device goes, even when all that traffic had posted was done before.
 */
final class Endpoint implements AutoCloseable {
  private static final int MESSAGE = 3000;
  private static final int WINDOW = 16;
  private static final long RECEIVE = 1L << 62; // marks the identifiers of receives
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED;

  private final Arena arena = Arena.ofShared();
  private final Context context;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final MemorySegment memory;
  private final QueuePair pair;
  private final QuietPair quiet;
  private final Thread thread;
  private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
  private final List<AsyncEventType> events = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch busy = new CountDownLatch(100);
  private final CountDownLatch drained = new CountDownLatch(1);

  private final ArrayDeque<Long> sends = new ArrayDeque<>(); // posted, not completed; so are receives
  private final ArrayDeque<Long> receives = new ArrayDeque<>();
  private final WorkCompletion[] batch = WorkCompletion.batch(WINDOW);
  private long nextSend;
  private long nextReceive;
  private long received;
  private final AtomicLong succeeded = new AtomicLong();
  private final AtomicLong flushed = new AtomicLong();
  private boolean refused;
  private boolean sendsFailed;
  private boolean receivesFailed;
  private boolean exhausted;
  private volatile long longestPauseNanos;
  private volatile boolean stopping;
  private volatile boolean released;

  Endpoint(RdmaDevice device) {
    context = device.open("traffic");
    context.addAsyncEventHandler(event -> events.add(event.type()));
    channel = context.createCompletionChannel();
    queue = context.createCq(8 * WINDOW, channel, 0);
    domain = context.allocatePd();
    memory = arena.allocate(2L * WINDOW * MESSAGE, 4096);
    region = domain.registerMemory(memory, Access.LOCAL_WRITE);
    pair =
        domain.createQp(
            new QpInitAttributes(QpType.RC)
                .sendCq(queue)
                .recvCq(queue)
                .signalAll(true)
                .capabilities(new QpCapabilities(WINDOW, WINDOW, 1, 1, 0)));
    quiet = new QuietPair(domain, queue, region);
    thread = Thread.ofPlatform().name("traffic on " + device.name()).unstarted(this::work);
  }

  /** Connects two ends. */
  static void connect(Endpoint a, Endpoint b) {
    a.connectTo(b);
    b.connectTo(a);
  }

  private void connectTo(Endpoint peer) {
    GidEntry destination = peer.context.device().gidTable(1).entries().getFirst();
    int source = context.device().gidTable(1).entries().getFirst().index();
    pair.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1).access(Access.LOCAL_WRITE));
    pair.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, destination.gid(), source).withHopLimit(64))
            .pathMtu(PathMtu.MTU_1024)
            .destQpNumber(peer.pair.number())
            .rqPsn(0xfffff0)
            .maxDestRdAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QpAttributes()
            .state(QpState.RTS)
            .sqPsn(0xfffff0)
            .maxRdAtomic(1)
            .timeout(14)
            .retryCount(6)
            .rnrRetry(7));
  }

  void start() {
    thread.start();
  }

  /** Waits until traffic is in full flow. */
  void awaitBusy() throws InterruptedException {
    if (!busy.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
      problems.add("no traffic");
    }
  }

  /**
   * Ends traffic between two ends whose devices are there: neither sends any more, and both go on receiving until what
   * was sent is acknowledged.
   */
  static void finish(Endpoint a, Endpoint b) throws InterruptedException {
    a.stopping = true;
    b.stopping = true;
    a.awaitDrained();
    b.awaitDrained();
    a.release();
    b.release();
    a.join();
    b.join();
  }

  private void awaitDrained() throws InterruptedException {
    if (!drained.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
      problems.add("what was sent is not acknowledged");
    }
  }

  /** Lets the thread end whatever there is to do. */
  void release() {
    released = true;
  }

  /**
   * Waits until the thread has ended, because the device or the peer went or it was released. Where the peer went first
   * and the device since, the quiet queue pair is accounted for here.
   */
  void join() throws InterruptedException {
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    if (!thread.join(Duration.ofNanos(2 * PATIENCE_NANOS))) {
      problems.add(thread.getName() + " does not end");
    } else if (!released && context.isClosed()) {
      while (poll() > 0) {}
      if (!quiet.isEmpty()) {
        problems.add("never completed: " + quiet);
      }
    }
  }

  /** What was not as it must be. */
  List<String> problems() {
    return List.copyOf(problems);
  }

  /** The asynchronous events so far. */
  List<AsyncEventType> events() {
    return List.copyOf(events);
  }

  Context context() {
    return context;
  }

  QueuePair pair() {
    return pair;
  }

  ProtectionDomain domain() {
    return domain;
  }

  MemoryRegion region() {
    return region;
  }

  CompletionQueue queue() {
    return queue;
  }

  /** How many work requests completed well. */
  long succeeded() {
    return succeeded.get();
  }

  /** The longest time without a completion so far. */
  long longestPauseMillis() {
    return TimeUnit.NANOSECONDS.toMillis(longestPauseNanos);
  }

  /** How many work requests were flushed. */
  long flushed() {
    return flushed.get();
  }

  @Override
  public void close() {
    context.close();
    arena.close();
  }

  private void work() {
    try {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      while (!done()) {
        post();
        if (stopping && sends.isEmpty()) {
          drained.countDown();
        }
        if (poll() > 0) {
          long now = System.nanoTime();
          longestPauseNanos = Math.max(longestPauseNanos, now + PATIENCE_NANOS - deadline);
          deadline = now + PATIENCE_NANOS;
        } else if (!exhausted) {
          awaitEvent();
        }
        if (System.nanoTime() - deadline > 0) {
          problems.add("nothing happens any more: " + pair.state() + ", counters " + counters());
          break;
        }
      }
      if (!released && !(sends.isEmpty() && receives.isEmpty())) {
        problems.add("never completed: sends " + sends + ", receives " + receives);
      }
    } catch (RuntimeException e) {
      problems.add(thread.getName() + ": " + e);
    }
  }

  private String counters() {
    CounterSet counters = context.device().counters(1);
    return counters.names().stream()
        .filter(name -> counters.value(name) != 0)
        .map(name -> name + "=" + counters.value(name))
        .collect(Collectors.joining(" "));
  }

  /** A connection that has failed is over, but when the device goes the quiet queue pair is flushed too. */
  private boolean done() {
    return exhausted
        || failed() && sends.isEmpty() && receives.isEmpty() && (quiet.isEmpty() || !context.isClosed())
        || released;
  }

  private boolean failed() {
    return sendsFailed || receivesFailed;
  }

  private void post() {
    try {
      while (!refused && !failed() && receives.size() < WINDOW) {
        receives.add(RECEIVE | nextReceive);
        pair.postReceive(
            new ReceiveWorkRequest()
                .wrId(RECEIVE | nextReceive)
                .addSge(slot(WINDOW + nextReceive % WINDOW), MESSAGE, region.lkey()));
        nextReceive++;
      }
    } catch (VerbsException e) {
      receives.removeLast();
      refuse(e);
    }
    try {
      while (!refused && !failed() && !stopping && sends.size() < WINDOW) {
        fill(nextSend);
        sends.add(nextSend);
        pair.postSend(
            new SendWorkRequest()
                .wrId(nextSend)
                .opcode(WrOpcode.SEND)
                .addSge(slot(nextSend % WINDOW), MESSAGE, region.lkey()));
        nextSend++;
      }
    } catch (VerbsException e) {
      sends.removeLast();
      refuse(e);
    }
  }

  private void refuse(VerbsException e) {
    if (e.errno() != Errno.EIO) {
      problems.add("posting is refused with " + e);
    }
    refused = true;
  }

  private int poll() {
    int count;
    try {
      count = queue.poll(batch);
    } catch (VerbsException e) {
      if (e.errno() != Errno.EIO) {
        problems.add("polling is refused with " + e);
      }
      exhausted = true;
      refused = true;
      return 0;
    }
    for (int i = 0; i < count; i++) {
      complete(batch[i]);
    }
    return count;
  }

  private void complete(WorkCompletion completion) {
    if (QuietPair.owns(completion)) {
      if (quiet.complete(completion)) {
        flushed.incrementAndGet();
      } else {
        problems.add("a quiet receive: " + completion + ", left " + quiet);
      }
      return;
    }
    boolean receive = (completion.wrId() & RECEIVE) != 0;
    Long head = (receive ? receives : sends).poll();
    if (head == null || head != completion.wrId()) {
      problems.add("completed out of order or twice: " + completion + " instead of " + head);
    }
    if (completion.status() == WcStatus.SUCCESS) {
      succeeded.incrementAndGet();
      if (receive ? receivesFailed : sendsFailed) {
        problems.add("success after failure: " + completion);
      }
      if (receive) {
        check(completion.wrId() & ~RECEIVE);
        busy.countDown();
      }
    } else {
      if (completion.status() == WcStatus.WR_FLUSH_ERR) {
        flushed.incrementAndGet();
      } else if (receive || completion.status() != WcStatus.RETRY_EXC_ERR) {
        problems.add("failed: " + completion);
      }
      sendsFailed |= !receive;
      receivesFailed |= receive;
    }
  }

  private void awaitEvent() {
    try {
      if (!queue.requestNotify(CqNotify.NEXT_COMP, true)) {
        channel.getEvent(Duration.ofMillis(100));
      }
    } catch (VerbsException e) {
      // The device is gone: what is still in the queue is polled, then polling says so too.
      if (e.errno() != Errno.EIO) {
        problems.add("waiting is refused with " + e);
      }
    }
  }

  private long slot(long index) {
    return region.address() + index * MESSAGE;
  }

  private void fill(long number) {
    MemorySegment message = memory.asSlice(number % WINDOW * MESSAGE, MESSAGE);
    message.fill((byte) number);
    message.set(NUMBER, 0, number);
  }

  private void check(long number) {
    MemorySegment message = memory.asSlice((WINDOW + number % WINDOW) * MESSAGE, MESSAGE);
    long got = message.get(NUMBER, 0);
    if (got != received) {
      problems.add("message " + got + " instead of " + received);
    }
    for (int i = 8; i < MESSAGE; i++) {
      if (message.get(ValueLayout.JAVA_BYTE, i) != (byte) got) {
        problems.add("message " + got + ": byte " + i + " is wrong");
        break;
      }
    }
    received++;
  }
}
