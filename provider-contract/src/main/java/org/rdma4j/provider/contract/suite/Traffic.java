package org.rdma4j.provider.contract.suite;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/**
 * Numbered messages both ways on one side of a connection, as fast as it goes, on a thread of its own, with books: what
 * was posted completes once and in order, sends and receives each. It ends when it is told to, or when the device is
 * gone and all completions are taken, or when the connection failed and all is flushed.
 */
final class Traffic {
  static final int BYTES = 2000;
  private static final int WINDOW = 8;
  private static final long RECEIVE = 1L << 40;
  private static final long WARM = 40;

  private final Side side;
  private final Thread thread;
  private final CountDownLatch warm = new CountDownLatch(1);
  private final Queue<Long> sends = new ArrayDeque<>();
  private final Queue<Long> receives = new ArrayDeque<>();
  private final WorkCompletion[] batch = WorkCompletion.batch(WINDOW);
  private long nextSend;
  private long nextReceive;
  private final AtomicLong succeeded = new AtomicLong();
  private final AtomicLong flushed = new AtomicLong();
  private boolean failed;
  private boolean refused;
  private boolean exhausted;
  private volatile boolean stop;
  private volatile RuntimeException broken;

  /** A side whose queue pair is connected. */
  Traffic(Side side, String name) {
    this.side = side;
    this.thread = Thread.ofPlatform().daemon().name("contract traffic " + name).unstarted(this::guarded);
  }

  /** A side with a queue pair for this. */
  static Side prepare(Side side) {
    return side.with(side.init(QpType.RC).signalAll(true));
  }

  void start() {
    thread.start();
  }

  void awaitWarm() throws InterruptedException {
    Check.that(warm.await(2 * Patience.NANOS, TimeUnit.NANOSECONDS), "traffic does not flow");
    rethrow();
  }

  void stop() {
    stop = true;
  }

  /** Waits for the end; what was not as it must be is thrown. */
  void join() throws InterruptedException {
    thread.join(TimeUnit.NANOSECONDS.toMillis(4 * Patience.NANOS));
    Check.that(!thread.isAlive(), "a user of " + side + " does not learn that it is over");
    rethrow();
  }

  private void rethrow() {
    if (broken != null) {
      throw new Broken("traffic on " + side + " fails", broken);
    }
  }

  long succeeded() {
    return succeeded.get();
  }

  long flushed() {
    return flushed.get();
  }

  /** Everything posted has its completion. */
  void assertComplete() {
    Check.that(
        sends.isEmpty() && receives.isEmpty(),
        "on " + side + " never completed: sends " + sends + ", receives " + receives);
  }

  @Override
  public String toString() {
    return thread.getName() + " on " + side + " (" + succeeded + " done, " + flushed + " flushed)";
  }

  private void guarded() {
    try {
      work();
    } catch (RuntimeException e) {
      broken = e;
    } finally {
      warm.countDown();
    }
  }

  private void work() {
    Patience patience = new Patience(2 * Patience.NANOS);
    long seen = 0;
    while (!stop && !exhausted && !(failed && sends.isEmpty() && receives.isEmpty())) {
      post();
      poll();
      if (succeeded() + flushed() != seen) {
        seen = succeeded() + flushed();
        patience = new Patience(2 * Patience.NANOS);
      }
      if (succeeded() > WARM) {
        warm.countDown();
      }
      Check.that(patience.waits(), "nothing happens any more on " + side.qp() + " in " + side.qp().state());
    }
  }

  private void post() {
    while (!refused && !failed && receives.size() < WINDOW) {
      long id = nextReceive;
      ReceiveWorkRequest receive = side.receive(RECEIVE | id, (WINDOW + id % WINDOW) * BYTES, BYTES);
      receives.add(RECEIVE | id);
      if (!posted(() -> side.qp().postReceive(receive))) {
        receives.remove(RECEIVE | id);
        return;
      }
      nextReceive++;
    }
    while (!refused && !failed && sends.size() < WINDOW) {
      long id = nextSend;
      SendWorkRequest send = side.send(id, id % WINDOW * BYTES, BYTES);
      sends.add(id);
      if (!posted(() -> side.qp().postSend(send))) {
        sends.remove(id);
        return;
      }
      nextSend++;
    }
  }

  private boolean posted(Runnable post) {
    try {
      post.run();
      return true;
    } catch (VerbsException e) {
      Check.equal(Errno.EIO, e.errno(), "the error of posting to a device that is gone");
      refused = true;
      return false;
    }
  }

  private void poll() {
    int count;
    try {
      count = side.cq.poll(batch);
    } catch (VerbsException e) {
      Check.equal(Errno.EIO, e.errno(), "the error of polling an empty queue of a device that is gone");
      exhausted = true;
      return;
    }
    for (int i = 0; i < count; i++) {
      complete(batch[i]);
    }
  }

  private void complete(WorkCompletion completion) {
    boolean receive = completion.wrId() >= RECEIVE;
    Long head = (receive ? receives : sends).poll();
    Check.that(
        head != null && head == completion.wrId(), "twice or out of order: " + completion + " in place of " + head);
    if (completion.status() == WcStatus.SUCCESS) {
      succeeded.incrementAndGet();
      return;
    }
    failed = true;
    if (completion.status() == WcStatus.WR_FLUSH_ERR) {
      flushed.incrementAndGet();
    } else if (receive || completion.status() != WcStatus.RETRY_EXC_ERR) {
      throw new Broken("failed: " + completion);
    }
  }
}
