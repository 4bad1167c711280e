package org.rdma4j.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;

/**
 * The transport engine of one port: takes doorbells, receives packets, runs responders and completers, runs
 * requesters, fires timers, one duty cycle after the other, never two at once. It owns the protocol state of its
 * queue pairs, so nothing here is locked; other threads ring doorbells or {@link #call}. "Engine thread" means the one
 * that is in a duty cycle: the engine's own or, while a user polls without end, his ({@link EngineRunner#help}).
 *
 * <p>Without a thread ({@link EngineRunner} brings one) whoever calls {@link #doWork} drives it: that is how it runs
 * under virtual time.
 */
public final class Engine {
  private static final int SCRATCH_BYTES = 64;

  private final EngineConfig config;
  private final Clock clock;
  private final Link link;
  private final MemoryAccess memory;
  private final EngineFaultHandler faults;
  private final EngineCounters counters = new EngineCounters();
  private final Completion completion = new Completion();
  private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, Long.BYTES);
  private final QpTable queuePairs = new QpTable();
  private final MulticastGroups groups;
  private final PkeyTable pkeys = new PkeyTable();
  private final TimerWheel timers;
  private final PacketHandler packets = this::onPacket;
  private final AtomicReference<QpContext> rung = new AtomicReference<>();
  private final Object commandLock = new Object();
  private final Queue<Runnable> commands = new ArrayDeque<>();
  private volatile boolean hasCommands;
  private final Turn turn = new Turn();
  private final PostHold hold = new PostHold();
  private Thread owner;
  private QpContext firstReady;
  private QpContext lastReady;
  private long now;
  private ReceivedPacket current;
  private long cycle;
  private boolean acknowledgesLater;
  private boolean posting;
  private int failures; // one after the other

  /**
   * Makes an engine that nobody drives yet.
   *
   * @param config limits
   * @param clock time
   * @param link the network; driven by this engine alone from now on, but not closed by it
   * @param keys memory keys
   * @param faults is told of unexpected exceptions
   */
  public Engine(EngineConfig config, Clock clock, Link link, KeyTable keys, EngineFaultHandler faults) {
    this.config = config;
    this.clock = clock;
    this.link = link;
    this.memory = new MemoryAccess(keys);
    this.groups = new MulticastGroups(link);
    this.faults = faults;
    this.now = clock.nanoTime();
    this.timers = new TimerWheel(now);
  }

  /**
   * Adds a queue pair in state RESET. Engine thread, or {@link #call}.
   *
   * @param profile what is fixed
   * @param host its provider
   * @param receives its receive queue
   * @return the queue pair
   * @throws IllegalArgumentException when the number is in use
   */
  public QpContext create(QpProfile profile, QpHost host, ReceiveSource receives) {
    QpContext qp = new QpContext(this, profile, host, receives);
    queuePairs.add(qp);
    return qp;
  }

  /**
   * Forgets a queue pair, also in its multicast groups: from now on its host is not called any more. What is posted
   * is not completed; move it to {@link TransportState#ERR} first for that. Engine thread, or {@link #call}.
   *
   * @param qp the queue pair
   */
  public void destroy(QpContext qp) {
    qp.settle();
    queuePairs.remove(qp);
    groups.forget(qp);
    timers.disarm(qp);
    qp.removed = true;
  }

  /** {@return who receives what is sent to multicast groups; engine thread} */
  public MulticastGroups groups() {
    return groups;
  }

  /**
   * Changes the P_Key table of the port; every queue pair goes on with what is now at its index. Engine thread, or
   * {@link #call}.
   *
   * @param table P_Keys with the membership bit; 0 where there is none
   */
  public void setPkeys(int[] table) {
    pkeys.set(table);
    queuePairs.forEach(QpContext::takePkey);
  }

  /** The packet that a queue pair is working on, or null. */
  ReceivedPacket currentPacket() {
    return current;
  }

  PkeyTable pkeys() {
    return pkeys;
  }

  /** {@return number of queue pairs; engine thread} */
  public int queuePairs() {
    return queuePairs.size();
  }

  /** {@return the counters, readable from any thread} */
  public EngineCounters counters() {
    return counters;
  }

  /** {@return the limits} */
  public EngineConfig config() {
    return config;
  }

  /** {@return the link, for set-up on the engine thread} */
  public Link link() {
    return link;
  }

  /**
   * Runs a command between two duty cycles and waits for it. Any thread; in a duty cycle, or when nobody owns the
   * engine, it runs at once; while the engine's thread stands aside for users the caller runs the duty cycle himself.
   *
   * @param command must not block
   * @param <T> type of the result
   * @return what the command returns
   */
  public <T> T call(Supplier<T> command) {
    var result = new CompletableFuture<T>();
    synchronized (commandLock) {
      if (owner == null || turn.isMine()) {
        return command.get();
      }
      commands.add(() -> complete(result, command));
      hasCommands = true;
    }
    if (borrow()) {
      try {
        cycle();
      } finally {
        turn.give();
      }
    } else {
      link.wakeup();
    }
    return await(result);
  }

  /**
   * As {@link #call}, for a command without result.
   *
   * @param command must not block
   */
  public void run(Runnable command) {
    call(
        () -> {
          command.run();
          return null;
        });
  }

  /**
   * Leaves a command for the next duty cycle and does not wait for it; hosts use it for what they may not do while
   * they are called. Any thread.
   *
   * @param command must not block
   */
  public void defer(Runnable command) {
    synchronized (commandLock) {
      commands.add(command);
      hasCommands = true;
    }
    link.wakeup();
  }

  private static <T> void complete(CompletableFuture<T> result, Supplier<T> command) {
    try {
      result.complete(command.get());
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  private static <T> T await(CompletableFuture<T> result) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return result.get();
        } catch (InterruptedException e) {
          interrupted = true; // A command that was given is carried out; the caller learns of the interrupt after it.
        } catch (ExecutionException e) {
          if (e.getCause() instanceof RuntimeException cause) {
            throw cause;
          }
          if (e.getCause() instanceof Error cause) {
            throw cause;
          }
          throw new CompletionException(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whose turn it is to run duty cycles, where the engine has a thread of its own. */
  Turn turn() {
    return turn;
  }

  /** Whether a user's thread has got the turn, which it must give back. */
  boolean borrow() {
    return turn.isLent() && link.mayBeLent() && turn.borrow();
  }

  /** A duty cycle for a user who polls and finds nothing; he has the turn. */
  int cycleForPoller(long time) {
    hold.polled(time);
    return cycle(time);
  }

  /** Whether others have left something for the next duty cycle. Any thread. */
  boolean isAsked() {
    return hasCommands || rung.get() != null;
  }

  /** A duty cycle that never throws: nothing ends the thread that drives, or reaches a user who helps. */
  int cycle() {
    return cycle(clock.nanoTime());
  }

  private int cycle(long time) {
    try {
      int work = doWork(time);
      failures = 0;
      return work;
    } catch (RuntimeException | Error e) {
      failed("duty cycle", e);
      return 0;
    }
  }

  /** What is outside of queue pairs has failed: all is counted; of several failures in a row the first is told. */
  void failed(String where, Throwable cause) {
    failures++;
    if (failures == 1) {
      fault(where, cause);
    } else {
      counters.increment(EngineCounter.FAULTS);
    }
  }

  /** Whether the last duty cycles have all failed. */
  boolean keepsFailing() {
    return failures > 1;
  }

  /** The engine has a thread of its own from now on: commands of others wait for the next duty cycle. */
  void own(Thread driver) {
    synchronized (commandLock) {
      if (owner != null) {
        throw new IllegalStateException("engine is driven by " + owner);
      }
      owner = driver;
    }
  }

  /** Nobody drives the engine any more: commands run where they are called. */
  void disown() {
    synchronized (commandLock) {
      runCommands();
      owner = null;
    }
  }

  /**
   * One duty cycle.
   *
   * @return how much was done; 0 when there was nothing to do
   */
  public int doWork() {
    return doWork(clock.nanoTime());
  }

  private int doWork(long time) {
    begin(time);
    int work = hasCommands ? takeCommands() : 0;
    work += takeDoorbells();
    work += link.receive(packets, config.receiveBatch());
    current = null;
    work += timers.expire(now);
    work += serveReady();
    work += link.flush();
    return work;
  }

  /** The part of a duty cycle that brings what was posted to the network. */
  private void sendPosted(long time) {
    posting = true;
    try {
      begin(time);
      takeDoorbells();
      serveReady();
      link.flush();
    } catch (RuntimeException | Error e) {
      failed("posting", e);
    } finally {
      posting = false;
    }
  }

  private void begin(long time) {
    now = time;
    cycle++;
    acknowledgesLater = false;
  }

  /** {@return when a timer must fire, in the clock's nanoseconds, or {@link Long#MAX_VALUE}} */
  public long nextDeadline() {
    return timers.next();
  }

  /** {@return whether the last duty cycle left an acknowledge to the next one, for users to post before} */
  public boolean acknowledgesLater() {
    return acknowledgesLater;
  }

  void acknowledgeLater() {
    acknowledgesLater = true;
  }

  /** Whether this is a user's post, who is in a hurry. */
  boolean isPosting() {
    return posting;
  }

  /** Number of the present duty cycle. */
  long cycleNumber() {
    return cycle;
  }

  /** {@return whether a queue pair could send more at once} */
  public boolean hasReady() {
    return firstReady != null;
  }

  private int takeCommands() {
    synchronized (commandLock) {
      return runCommands();
    }
  }

  private int runCommands() {
    hasCommands = false;
    int count = 0;
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      runDeferred(command);
      count++;
    }
    return count;
  }

  /** Whoever waits for a command hears of its exceptions; those of others must not keep the next from running. */
  private void runDeferred(Runnable command) {
    try {
      command.run();
    } catch (RuntimeException | Error e) {
      fault("deferred command", e);
    }
  }

  private int takeDoorbells() {
    if (rung.getPlain() == null) {
      return 0;
    }
    int count = 0;
    QpContext qp = rung.getAndSet(null);
    while (qp != null) {
      QpContext next = qp.nextRung;
      qp.nextRung = null;
      qp.answerDoorbell();
      schedule(qp);
      qp = next;
      count++;
    }
    return count;
  }

  /**
   * Any thread: a stack that only grows until the engine takes it whole, so there is no ABA. While the engine's thread
   * stands aside the caller sends what he has posted ({@code rxe_verbs.c:rxe_post_send} does so always), at once or
   * with his next poll.
   */
  void rung(QpContext qp) {
    QpContext head;
    do {
      head = rung.get();
      qp.nextRung = head;
    } while (!rung.compareAndSet(head, qp));
    if (!turn.isLent()) {
      link.wakeup();
      return;
    }
    long time = clock.nanoTime();
    if (!hold.holds(time) && borrow()) {
      try {
        sendPosted(time);
      } finally {
        turn.give();
      }
    }
  }

  private int serveReady() {
    int sent = 0;
    QpContext last = lastReady;
    while (firstReady != null) {
      QpContext qp = firstReady;
      firstReady = qp.nextReady;
      if (firstReady == null) {
        lastReady = null;
      }
      qp.nextReady = null;
      qp.ready = false;
      if (!qp.removed) {
        sent++;
        if (serve(qp)) {
          schedule(qp);
        }
      }
      if (qp == last) {
        break;
      }
    }
    return sent;
  }

  private boolean serve(QpContext qp) {
    try {
      return qp.serve(link, config.transmitBurst());
    } catch (RuntimeException | Error e) {
      abandonPacket();
      fault(qp, e);
      return false;
    }
  }

  /** The exception may have come while a packet was written: the link must not wait for its end. */
  private void abandonPacket() {
    try {
      link.abort();
    } catch (IllegalStateException e) {
      // No packet was claimed.
    }
  }

  /** The queue pair may have something to send. */
  void schedule(QpContext qp) {
    if (qp.ready || qp.removed) {
      return;
    }
    qp.ready = true;
    if (lastReady == null) {
      firstReady = qp;
    } else {
      lastReady.nextReady = qp;
    }
    lastReady = qp;
  }

  private void onPacket(ReceivedPacket received) {
    MemorySegment packet = received.buffer();
    long at = received.offset();
    int length = received.length();
    if (length < Bth.LENGTH || (length & 3) != 0 || Bth.version(packet, at) != 0) {
      counters.increment(EngineCounter.DROPPED_MALFORMED);
      return;
    }
    int opcode = Bth.opcode(packet, at);
    if (!Opcode.isKnown(opcode) || length < Opcode.headerLength(opcode) + Bth.padCount(packet, at)) {
      counters.increment(EngineCounter.DROPPED_MALFORMED);
      return;
    }
    int number = Bth.destQp(packet, at);
    // A packet to a group names no queue pair, and one that names none is to a group (rxe_recv.c:rxe_rcv).
    boolean multicast = Gid.isMulticast(received.destinationHi(), received.destinationLo());
    if (number == MulticastGroups.QP_NUMBER && multicast) {
      toGroup(received, packet, at, length, opcode);
      return;
    }
    QpContext qp = multicast ? null : queuePairs.find(number);
    if (qp == null || Opcode.transport(opcode) != qp.kind().transport()) {
      counters.increment(EngineCounter.DROPPED_NO_QP);
      return;
    }
    deliver(qp, received, packet, at, length, opcode);
  }

  private void toGroup(ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    QpContext[] members = groups.members(received.destinationHi(), received.destinationLo());
    if (members.length == 0 || Opcode.transport(opcode) != QpKind.UD.transport()) {
      counters.increment(EngineCounter.DROPPED_NO_QP);
      return;
    }
    for (QpContext member : members) {
      deliver(member, received, packet, at, length, opcode);
    }
  }

  private void deliver(
      QpContext qp, ReceivedPacket received, MemorySegment packet, long at, int length, int opcode) {
    if (!pkeys.admits(Bth.pkey(packet, at), qp)) {
      counters.increment(EngineCounter.BAD_PKEY);
      return;
    }
    current = received;
    try {
      qp.onPacket(received, packet, at, length, opcode);
    } catch (RuntimeException | Error e) {
      fault(qp, e);
    }
  }

  /**
   * An exception that no code expects came while a queue pair was served, or an error such as that of a mapped file
   * that was cut: the queue pair ends, the engine goes on. All are counted; of a queue pair the first is told.
   */
  void fault(QpContext qp, Throwable cause) {
    boolean first = false;
    try {
      first = qp.fault();
    } catch (RuntimeException | Error e) {
      first = true;
      if (e != cause) {
        cause.addSuppressed(e);
      }
    }
    if (first) {
      fault("queue pair " + qp.number(), cause);
    } else {
      counters.increment(EngineCounter.FAULTS);
    }
  }

  /** Counts and tells an exception; whoever is told must not stop the engine either. */
  void fault(String where, Throwable cause) {
    counters.increment(EngineCounter.FAULTS);
    try {
      faults.onFault(where, cause);
    } catch (RuntimeException | Error e) {
      counters.increment(EngineCounter.FAULTS);
    }
  }

  void armTimer(QpContext qp) {
    timers.arm(qp);
  }

  long now() {
    return now;
  }

  MemoryAccess memory() {
    return memory;
  }

  Completion completion() {
    return completion;
  }

  /** 64 bytes for whatever a step needs for a moment. */
  MemorySegment scratch() {
    return scratch;
  }
}
