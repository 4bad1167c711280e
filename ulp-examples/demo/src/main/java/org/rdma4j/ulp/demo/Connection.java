package org.rdma4j.ulp.demo;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/**
 * A reliable connection from one device to another under load. One thread posts, polls and checks both ends: message
 * after message, each with bytes of its own, as many under way as the window allows. It ends when told to, or when the
 * devices go; then it has polled everything that there was to poll.
 */
final class Connection implements AutoCloseable {
  /** Bytes of a message. */
  static final int MESSAGE = 4096;

  private static final int WINDOW = 16;
  private static final int RECEIVES = 2 * WINDOW;
  private static final int SPINS = 200;
  private static final long NAP_NANOS = Duration.ofNanos(50_000).toNanos();
  private static final long END_NANOS = Duration.ofSeconds(15).toNanos();

  private final boolean write;
  private final End from;
  private final End to;
  private final Ledger sends = new Ledger();
  private final Ledger receives = new Ledger();
  private final SendWorkRequest send = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.batch(WINDOW);
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong wrong = new AtomicLong();
  private final Thread thread;
  private volatile boolean stopping;
  private volatile String problem;
  private boolean broken;
  private boolean fromGone;
  private boolean toGone;

  /** Makes and connects both ends; {@code write} chooses RDMA WRITE in place of SEND. */
  Connection(RdmaDevice source, RdmaDevice destination, boolean write) {
    this.write = write;
    from = new End(source, (long) RECEIVES * MESSAGE, RECEIVES);
    boolean made = false;
    try {
      to = new End(destination, (long) RECEIVES * MESSAGE, RECEIVES);
      made = true;
    } finally {
      if (!made) {
        from.close();
      }
    }
    from.connect(to, PathMtu.MTU_1024, 100, 200);
    to.connect(from, PathMtu.MTU_1024, 200, 100);
    send.opcode(write ? WrOpcode.RDMA_WRITE : WrOpcode.SEND).rkey(to.region().rkey());
    thread = Thread.ofPlatform().name("demo " + name()).daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Asks the traffic to end: what is under way arrives, then the receives left over are flushed. */
  void stop() {
    stopping = true;
  }

  /** Waits for the end of the traffic; whether it came. */
  boolean join() throws InterruptedException {
    return thread.join(Duration.ofNanos(2 * END_NANOS));
  }

  private void run() {
    try {
      for (int i = 0; i < RECEIVES && !write; i++) {
        postReceive();
      }
      int idle = 0;
      while (!stopping && !broken && !fromGone && !toGone) {
        boolean posted = sends.missing() < WINDOW && postSend();
        idle = poll() || posted ? 0 : idle + 1;
        rest(idle);
      }
      finish();
    } catch (RuntimeException | Error e) {
      problem = e.toString();
    }
  }

  /**
   * Lets what is under way arrive and flushes the rest; on devices that go, takes what they still tell. What was sent
   * to a device that has gone ends when the retries do.
   */
  private void finish() {
    long deadline = System.nanoTime() + END_NANOS;
    boolean drained = false;
    int idle = 0;
    while (System.nanoTime() < deadline) {
      if (fromGone && toGone || sends.missing() == 0 && receives.missing() == 0) {
        return;
      }
      if (!drained && (sends.missing() == 0 || fromGone)) {
        drained = true;
        flush(from, fromGone);
        flush(to, toGone);
      }
      idle = poll() ? 0 : idle + 1;
      rest(idle);
    }
    problem = "the traffic did not end within " + END_NANOS / 1_000_000_000 + " s";
  }

  private static void flush(End end, boolean gone) {
    try {
      if (!gone) {
        end.qp().modify(new QpAttributes().state(QpState.ERR));
      }
    } catch (VerbsException e) {
      // The device goes at this moment, which flushes too.
    }
  }

  private boolean postSend() {
    int slot = sends.posted() % WINDOW;
    Pattern.fill(from.slot(slot, MESSAGE), sends.posted());
    send.wrId(sends.posted())
        .clearSges()
        .addSge(from.slot(slot, MESSAGE).address(), MESSAGE, from.region().lkey())
        .remoteAddress(to.slot(slot, MESSAGE).address());
    try {
      from.qp().postSend(send);
    } catch (PostException e) {
      // Nothing more is taken. What was taken still completes: go on to poll it.
      broken = true;
      return false;
    }
    sends.post();
    return true;
  }

  private void postReceive() {
    int slot = receives.posted() % RECEIVES;
    receive
        .wrId(receives.posted())
        .clearSges()
        .addSge(to.slot(slot, MESSAGE).address(), MESSAGE, to.region().lkey());
    try {
      to.qp().postReceive(receive);
    } catch (PostException e) {
      return;
    }
    receives.post();
  }

  /** Polls both ends until each says that its device is gone and nothing is left; whether there was anything. */
  private boolean poll() {
    int sent = 0;
    int received = 0;
    if (!fromGone) {
      try {
        sent = from.cq().poll(completions);
        for (int i = 0; i < sent; i++) {
          sendCompleted(completions[i]);
        }
      } catch (VerbsException e) {
        fromGone = true;
      }
    }
    if (!toGone) {
      try {
        received = to.cq().poll(completions);
        for (int i = 0; i < received; i++) {
          receiveCompleted(completions[i]);
        }
      } catch (VerbsException e) {
        toGone = true;
      }
    }
    return sent + received > 0;
  }

  private void sendCompleted(WorkCompletion completion) {
    sends.complete(completion.wrId(), completion.status());
    broken |= completion.status() != WcStatus.SUCCESS;
    if (write && completion.status() == WcStatus.SUCCESS) {
      // Acknowledged: the bytes are in the peer's memory, and stay until this slot is written again.
      arrived(to, (int) (completion.wrId() % WINDOW), completion.wrId());
    }
  }

  private void receiveCompleted(WorkCompletion completion) {
    receives.complete(completion.wrId(), completion.status());
    if (completion.status() == WcStatus.SUCCESS) {
      arrived(to, (int) (completion.wrId() % RECEIVES), delivered.get());
      postReceive();
    }
  }

  private void arrived(End end, int slot, long expected) {
    if (!Pattern.matches(end.slot(slot, MESSAGE), expected)) {
      wrong.incrementAndGet();
    }
    delivered.incrementAndGet();
  }

  private static void rest(int idle) {
    if (idle > SPINS) {
      LockSupport.parkNanos(NAP_NANOS);
    } else {
      Thread.onSpinWait();
    }
  }

  /** What it is and where it goes. */
  String name() {
    return (write ? "WRITE " : "SEND  ") + from.deviceName() + " -> " + to.deviceName();
  }

  End from() {
    return from;
  }

  End to() {
    return to;
  }

  /** The books of the sends; to be read when the traffic has ended. */
  Ledger sends() {
    return sends;
  }

  /** The books of the receives, empty for WRITE; to be read when the traffic has ended. */
  Ledger receives() {
    return receives;
  }

  boolean isWrite() {
    return write;
  }

  /** Messages that arrived so far. */
  long delivered() {
    return delivered.get();
  }

  /** How many of them were not what was sent. */
  long wrong() {
    return wrong.get();
  }

  /** What kept the traffic from going on or ending, or null. */
  String problem() {
    return problem;
  }

  @Override
  public void close() {
    stopping = true;
    try {
      from.close();
    } finally {
      to.close();
    }
  }
}
