package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.mlx5.core.QueuePairCommands.Transition;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * The driver's own queue pair, by which keys of regions change without a command (kernel: {@code umr.c}). One change at
 * a time, and whoever wants it waits; a change that the card refuses brings the queue pair down, and up again. Safe for
 * any thread.
 */
final class UmrQueue {
  /** Pages that a change can have. */
  static final int MOST_PAGES = 8192;

  private static final int REG_UMR = 0xc;
  private static final int NO_RECEIVES = 3;
  private static final int MIGRATED = 3;
  private static final int LARGEST_MTU = 5;
  private static final int LOG_MESSAGE = 12;
  private static final int PORT = 1;
  private static final int REQUESTS = 128;
  private static final int BLOCKS = REQUESTS * 4;
  private static final int LOOKS = 2_000;
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long ENABLE =
      UmrEntry.KEY
          | UmrEntry.FREE
          | UmrEntry.LOCAL_READ
          | UmrEntry.RIGHTS
          | UmrEntry.DOMAIN
          | UmrEntry.LENGTH
          | UmrEntry.PAGE_SIZE
          | UmrEntry.START;

  /** Nobody is told of completions: who waits looks. */
  private static final CompletionHandler NOBODY =
      new CompletionHandler() {
        @Override
        public void completed() {
          // It is never armed.
        }

        @Override
        public void failed(int syndrome) {
          // Whoever waits finds the card down, or the change refused.
        }
      };

  private final ConnectxDevice device;
  private final ReentrantLock lock = new ReentrantLock();
  private final Ladder made = new Ladder();
  private int pd;
  private int listKey;
  private CompletionRing completions; // this and the following: guarded by lock
  private SendQueue sends;
  private DmaBuffer list;
  private DoorbellRecord record;
  private int cqn;
  private int number;

  /** What is made, to be given back in reverse. */
  private static final class Ladder {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    void add(Runnable undo) {
      steps.push(undo);
    }

    void undo() {
      while (!steps.isEmpty()) {
        steps.pop().run();
      }
    }
  }

  private UmrQueue(ConnectxDevice device) {
    this.device = device;
  }

  /**
   * Makes the domain, the completion queue and the queue pair.
   *
   * @throws VerbsException when the card refuses; nothing is left then
   */
  static UmrQueue open(ConnectxDevice device) {
    UmrQueue queue = new UmrQueue(device);
    boolean done = false;
    try {
      Errors.translatedRun(queue::open);
      done = true;
      return queue;
    } finally {
      if (!done) {
        queue.close();
      }
    }
  }

  private void open() {
    int domain = ObjectCommands.allocatePd(device.core());
    pd = domain;
    made.add(() -> device.giveBack("protection domain", () -> ObjectCommands.freePd(device.core(), domain)));
    int key = IbProtectionDomain.readKey(device, pd);
    listKey = key;
    made.add(() -> device.giveBack("key of lists", () -> MemoryKeyCommands.destroy(device.core(), key)));
    list = device.core().allocate((long) MOST_PAGES * Long.BYTES);
    made.add(list::close);
    completions = CompletionRing.allocate(device.core(), REQUESTS);
    made.add(completions::close);
    CoreCompletionQueue cq =
        device.core().createCompletionQueue(completions.creation(device.core()), 0, NOBODY);
    cqn = cq.number();
    made.add(() -> device.giveBack("completion queue", cq::destroy));
    createQueuePair();
    toReady();
  }

  private void createQueuePair() {
    DmaBuffer buffer = device.core().allocate((long) BLOCKS * SendQueue.BLOCK);
    made.add(buffer::close);
    record = device.core().allocateDoorbellRecord();
    made.add(record::close);
    CommandRequest request = CommandRequest.of(Opcode.CREATE_QP, (long) buffer.pages() * Long.BYTES);
    request
        .structure("qpc")
        .set("st", REG_UMR)
        .set("pm_state", MIGRATED)
        .set("latency_sensitive", 1)
        .set("rq_type", NO_RECEIVES)
        .set("uar_page", device.sharedDoorbell().page().index())
        .set("srqn_rmpn_xrqn", device.resources().queue())
        .set("xrcd", device.resources().ownDomain())
        .set("log_sq_size", Sizes.log(BLOCKS))
        .set("cqn_snd", cqn)
        .set("cqn_rcv", cqn)
        .setLong("dbr_addr", record.address());
    buffer.listPages(request, 0, 0);
    int qpn = QueuePairCommands.create(device.core(), request);
    number = qpn;
    made.add(
        () -> {
          device.giveBack("work of the UMR queue pair", () -> QueuePairCommands.toReset(device.core(), qpn));
          device.giveBack("UMR queue pair", () -> QueuePairCommands.destroy(device.core(), qpn));
        });
    sends = new SendQueue(buffer.segment(), REQUESTS, true, record, device.sharedDoorbell());
    sends.number(qpn);
  }

  private void toReady() {
    for (Transition each : new Transition[] {Transition.RST2INIT, Transition.INIT2RTR, Transition.RTR2RTS}) {
      QueuePairCommands.modify(device.core(), each, number, 0, this::fill);
    }
  }

  private void fill(Structure context) {
    context
        .set("st", REG_UMR)
        .set("pm_state", MIGRATED)
        .set("mtu", LARGEST_MTU)
        .set("log_msg_max", LOG_MESSAGE)
        .set("cqn_snd", cqn)
        .set("cqn_rcv", cqn)
        .set("primary_address_path.vhca_port_num", PORT)
        .setLong("dbr_addr", record.address());
  }

  /** The domain of keys that are free. */
  int pd() {
    return pd;
  }

  /**
   * Gives a key the memory and rights of a region, all at once.
   *
   * @param key the key as it shall be
   * @param shape the region, with at most {@link #MOST_PAGES} pages
   * @param free whether the key must be free; else it must not be
   * @throws Mlx5Exception EFAULT when the card refuses, EIO when it is down; the key is as before
   */
  void enable(int key, RegionShape shape, boolean free) {
    lock.lock();
    try {
      int units = (shape.pages() * Long.BYTES + UmrEntry.INLINE_BYTES - 1) / UmrEntry.INLINE_BYTES;
      int bytes = units * UmrEntry.INLINE_BYTES;
      boolean inline = bytes == UmrEntry.INLINE_BYTES;
      MemorySegment entries = list.segment();
      entries.asSlice(0, bytes).fill((byte) 0);
      shape.list(entries);
      begin();
      UmrEntry.begin(
          sends,
          (free ? UmrEntry.IF_FREE : UmrEntry.IF_NOT_FREE) | (inline ? UmrEntry.INLINE : 0),
          bytes / SendQueue.SEGMENT,
          ENABLE,
          UmrEntry.rights(shape.access()) | UmrEntry.localRead(),
          key,
          UmrEntry.ANY_QP);
      UmrEntry.domain(sends, shape.pd(), false);
      UmrEntry.range(sends, shape.iova(), shape.length());
      UmrEntry.pages(sends, shape.logPage(), shape.octowords());
      if (inline) {
        UmrEntry.inlinePages(sends, entries, shape.pages());
      } else {
        UmrEntry.list(sends, list.address(), bytes, listKey);
      }
      execute(key);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes a key free; when this returns nobody reaches memory through it.
   *
   * @throws Mlx5Exception as {@link #enable}
   */
  void revoke(int key) {
    lock.lock();
    try {
      begin();
      UmrEntry.begin(
          sends, UmrEntry.INLINE, 0, UmrEntry.FREE | UmrEntry.DOMAIN, UmrEntry.IS_FREE, key, UmrEntry.ANY_QP);
      UmrEntry.domain(sends, pd, false);
      execute(key);
    } finally {
      lock.unlock();
    }
  }

  private void begin() {
    if (!device.isUp()) {
      throw down();
    }
    sends.begin();
  }

  private Mlx5Exception down() {
    return new Mlx5Exception(Mlx5Errno.EIO, device.core().name() + ": the card is not up");
  }

  private void execute(int key) {
    sends.end(key, UmrEntry.OPCODE, 0, key, WcOpcode.REG_MR);
    sends.publish();
    await();
    boolean done = completions.opcode() == CompletionEntry.REQUESTER;
    long at = completions.at();
    int vendor = done ? 0 : CompletionEntry.vendorError(completions.entries(), at);
    sends.completed(sends.index(CompletionEntry.counter(completions.entries(), at)), done);
    completions.advance();
    completions.publish();
    if (!done) {
      recover();
      throw new Mlx5Exception(
          Mlx5Errno.EFAULT,
          "%s: the change of key 0x%x was refused, vendor error 0x%x".formatted(device.core().name(), key, vendor));
    }
  }

  private void await() {
    for (int looks = 0; completions.opcode() < 0; looks++) {
      if (!device.isUp()) {
        throw down();
      }
      if (!device.core().relax()) {
        if (looks < LOOKS) {
          Thread.onSpinWait();
        } else {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
  }

  /** A refused change has put the queue pair into error ({@code umr.c:mlx5r_umr_recover}). */
  private void recover() {
    QueuePairCommands.toReset(device.core(), number);
    sends.reset();
    toReady();
  }

  /** Gives everything back. No key is free any more, and nobody changes one. */
  void close() {
    lock.lock();
    try {
      made.undo();
    } finally {
      lock.unlock();
    }
  }
}
