package org.rdma4j.mlx5.ib;

import static org.rdma4j.mlx5.ib.BigEndian.INT;
import static org.rdma4j.mlx5.ib.BigEndian.LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.rdma4j.ib.core.verbs.QueueLock;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.DoorbellRecord;

/**
 * The send queue of a queue pair, written in place (kernel: {@code wr.c}): blocks of 64 bytes, in which a request is a
 * control segment and others of 16 bytes each, and may wrap from the last block to the first. The side arrays say what
 * a block belonged to. For the holder of {@link #lock}; {@link #completed} for the holder of the completion queue's.
 */
final class SendQueue {
  static final int BLOCK = 64;
  static final int SEGMENT = 16;
  static final int DATAGRAM = 48;

  private static final int EXTENDED = 1 << 31;
  private static final int INLINE = 1 << 31;
  private static final int SEND_RECORD = 4;
  private static final int UPDATE_CQ = 2 << 2;
  private static final int SOLICITED = 1 << 1;
  /** Fences of a request, as the control segment has them. */
  static final int SMALL_FENCE = 1 << 5;

  static final int STRONG_ORDERING = 3 << 5;
  private static final int FENCE = 2 << 5;
  private static final int SMALL_AND_FENCE = 4 << 5;
  private static final int COUNT_MASK = 0xffff;

  private final QueueLock lock = new QueueLock();
  private final MemorySegment ring;
  private final int mask;
  private final int byteMask;
  private final int maxPosted;
  private final boolean signalAll;
  private final DoorbellRecord record;
  private final BlueFlameRegister register;
  private final long[] wrIds;
  private final int[] heads;
  private final byte[] lengths;
  private final byte[] opcodes;
  private final LocalWork[] works;
  private final int[] keys;
  private int number;
  private QueueTrace trace;
  private int posted; // blocks that the card has been told of
  private int published; // requests that it has been told of
  private int block; // where the next request begins
  private int head; // requests written
  private int lastBlock; // where the last request that was published begins
  private volatile int tail; // requests completed
  private int tailBlock; // where the next request to complete begins
  private int worksPosted; // requests with somebody who waits for them: written, and
  private int worksDone; // over, for the holder of the completion queue's lock
  private int nextFence; // that the last request wants of the next
  private int publishedFence;
  private int ownFence; // of the request being written, or 0; this and the following: of it too
  private boolean fencesNext;
  private LocalWork work;
  private int workKey;
  private int at; // of the request being written: its length so far

  SendQueue(
      MemorySegment ring, int maxPosted, boolean signalAll, DoorbellRecord record, BlueFlameRegister register) {
    this.ring = ring;
    int blocks = (int) (ring.byteSize() / BLOCK);
    this.mask = blocks - 1;
    this.byteMask = (int) ring.byteSize() - 1;
    this.maxPosted = maxPosted;
    this.signalAll = signalAll;
    this.record = record;
    this.register = register;
    this.wrIds = new long[blocks];
    this.heads = new int[blocks];
    this.lengths = new byte[blocks];
    this.opcodes = new byte[blocks];
    this.works = new LocalWork[blocks];
    this.keys = new int[blocks];
  }

  void number(int qpn) {
    number = qpn;
  }

  int number() {
    return number;
  }

  /** Who is shown what is published; nobody for a queue that is the driver's own. */
  void trace(QueueTrace watched) {
    trace = watched;
  }

  QueueLock lock() {
    return lock;
  }

  int maxPosted() {
    return maxPosted;
  }

  boolean isFull() {
    return head - tail >= maxPosted;
  }

  /** Whether there are so many blocks: requests that change memory keys may be longer than what was reckoned with. */
  boolean hasRoom(int blocks) {
    boolean none = head - tail == 0;
    return none || (tailBlock - block & mask) >= blocks;
  }

  /** Begins a request; there is room for it. */
  void begin() {
    at = SEGMENT;
    ownFence = 0;
    fencesNext = false;
    work = null;
  }

  /** Writes somewhere in the request. */
  void write(int offset, int value) {
    ring.set(INT, place(offset), value);
  }

  /** Writes somewhere in the request, at a multiple of 8. */
  void write(int offset, long value) {
    ring.set(LONG, place(offset), value);
  }

  /** So long is the request by now. */
  void length(int bytes) {
    at = bytes;
  }

  /** The request has a fence of its own, whatever its flags say, and the next one waits for it. */
  void fence(int bits) {
    ownFence = bits;
    fencesNext = true;
  }

  /** The next request waits for this one ("initiator small" fence). */
  void smallFenceNext() {
    fencesNext = true;
  }

  /** Somebody wants to know when the request is over. */
  void expect(LocalWork who, int key) {
    work = who;
    workKey = key;
  }

  private long place(int offset) {
    return block * (long) BLOCK + offset & byteMask;
  }

  void remote(long address, int key) {
    long to = place(at);
    ring.set(LONG, to, address);
    ring.set(INT, to + 8, key);
    ring.set(INT, to + 12, 0);
    at += SEGMENT;
  }

  void atomic(long swapOrAdd, long compare) {
    long to = place(at);
    ring.set(LONG, to, swapOrAdd);
    ring.set(LONG, to + 8, compare);
    at += SEGMENT;
  }

  /** Leaves room for the address of a datagram, which comes later. */
  void skipDatagram() {
    at += DATAGRAM;
  }

  /** Leaves room for the number of the peer's queue, which comes later. */
  void skipXrc() {
    at += SEGMENT;
  }

  /** The number of the peer's shared receive queue, behind the control segment. */
  void xrc(int srqNumber) {
    long to = place(SEGMENT);
    ring.set(INT, to, srqNumber);
    ring.set(INT, to + 4, 0);
    ring.set(LONG, to + 8, 0);
  }

  /** The address of a datagram, behind the control segment. */
  void datagram(IbAddressHandle handle, int remoteQpn, int remoteQkey) {
    long first = place(SEGMENT);
    ring.set(INT, first, remoteQkey);
    ring.set(INT, first + 4, 0);
    ring.set(INT, first + 8, EXTENDED | remoteQpn);
    ring.set(INT, first + 12, handle.rateAndPort());
    long second = place(2 * SEGMENT);
    ring.set(LONG, second, 0);
    ring.set(INT, second + 8, handle.classAndHops());
    ring.set(INT, second + 12, handle.flags());
    long third = place(3 * SEGMENT);
    ring.set(LONG, third, handle.gidHigh());
    ring.set(LONG, third + 8, handle.gidLow());
  }

  /** A buffer; empty ones are left out. */
  void data(long address, int length, int key) {
    if (length != 0) {
      long to = place(at);
      ring.set(INT, to, length);
      ring.set(INT, to + 4, key);
      ring.set(LONG, to + 8, address);
      at += SEGMENT;
    }
  }

  /** Writes the head of inline data; {@link #inline} follows. */
  void inlineHead(int total) {
    ring.set(INT, place(at), INLINE | total);
    at += Integer.BYTES;
  }

  /** Some of the inline data. */
  void inline(MemorySegment source, long from, int count) {
    int done = 0;
    while (done < count) {
      long to = place(at + done);
      int piece = (int) Math.min(count - done, ring.byteSize() - to);
      MemorySegment.copy(source, from + done, ring, to, piece);
      done += piece;
    }
    at += count;
  }

  /** The request is complete. */
  void end(long wrId, int opcode, int flags, int immediate, WcOpcode completes) {
    int segments = (at + SEGMENT - 1) / SEGMENT;
    int blocks = (segments * SEGMENT + BLOCK - 1) / BLOCK;
    boolean signaled = signalAll || (flags & SendFlag.SIGNALED) != 0;
    long to = place(0);
    ring.set(INT, to, (block & COUNT_MASK) << 8 | opcode);
    ring.set(INT, to + 4, number << 8 | segments);
    ring.set(
        INT,
        to + 8,
        takeFence(flags)
            | (signaled ? UPDATE_CQ : 0)
            | ((flags & SendFlag.SOLICITED) != 0 ? SOLICITED : 0));
    ring.set(INT, to + 12, immediate);
    int index = block & mask;
    wrIds[index] = wrId;
    heads[index] = head;
    lengths[index] = (byte) blocks;
    opcodes[index] = (byte) completes.ordinal();
    if (work != null) {
      works[index] = work;
      keys[index] = workKey;
      work = null;
      worksPosted++;
    }
    head++;
    block += blocks;
    lastBlock = index;
  }

  /** What the request waits for ({@code wr.c:mlx5_ib_post_send}). */
  private int takeFence(int flags) {
    int before = nextFence;
    nextFence = fencesNext ? SMALL_FENCE : 0;
    if (ownFence != 0) {
      return ownFence;
    }
    if ((flags & SendFlag.FENCE) != 0) {
      return before != 0 ? SMALL_AND_FENCE : FENCE;
    }
    return before;
  }

  /** Takes back what was written since the last {@link #publish}. */
  void forget() {
    if (work != null) {
      work.done(workKey, false); // Of the request that was never complete.
      work = null;
    }
    for (int each = posted; each != block; each += lengths[each & mask]) {
      LocalWork waits = works[each & mask];
      if (waits != null) {
        works[each & mask] = null;
        worksPosted--;
        waits.done(keys[each & mask], false);
      }
    }
    block = posted;
    head = published;
    nextFence = publishedFence;
  }

  /** Tells the card; one request that does not wrap is handed over whole. */
  void publish() {
    int count = head - published;
    if (count == 0) {
      return;
    }
    long first = (long) (posted & mask) * BLOCK;
    int bytes = (block - posted) * BLOCK;
    if (trace != null && trace.isOn()) {
      traceRequests();
    }
    posted = block;
    published = head;
    publishedFence = nextFence;
    BigEndian.RECORD.setRelease(record.segment(), record.offset() + SEND_RECORD, block & COUNT_MASK);
    VarHandle.fullFence();
    if (count == 1 && bytes <= register.size() && first + bytes <= ring.byteSize()) {
      register.ring(ring, first, bytes);
    } else {
      register.ring(ring.get(LONG, (long) lastBlock * BLOCK));
    }
  }

  /** A word of a request that lies in the queue from a block on. */
  int word(int first, int offset) {
    return ring.get(INT, first * (long) BLOCK + offset & byteMask);
  }

  /** Shows each request that is about to be published, in one piece where it wraps. */
  private void traceRequests() {
    for (int each = posted; each != block; each += lengths[each & mask]) {
      MemorySegment entry = MemorySegment.ofArray(new byte[lengths[each & mask] * BLOCK]);
      for (int at = 0; at < entry.byteSize(); at += BLOCK) {
        MemorySegment.copy(ring, (each * (long) BLOCK + at) & byteMask, entry, at, BLOCK);
      }
      trace.posted(false, entry);
    }
  }

  /** Block of a request that completes, by the counter of the completion. */
  int index(int counter) {
    return counter & mask;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  WcOpcode opcode(int index) {
    return CompletionEntry.OPCODES[opcodes[index]];
  }

  /** A request and all before it are complete; it with success or not, the others with success. */
  void completed(int index, boolean success) {
    if (worksPosted != worksDone) {
      tell(index, success);
    }
    tailBlock = index + lengths[index] & mask;
    tail = heads[index] + 1;
  }

  private void tell(int last, boolean success) {
    int each = tailBlock;
    while (true) {
      LocalWork waits = works[each];
      if (waits != null) {
        works[each] = null;
        worksDone++;
        waits.done(keys[each], success || each != last);
      }
      if (each == last) {
        return;
      }
      each = each + lengths[each] & mask;
    }
  }

  /** Nothing that is outstanding will be executed. */
  void abandon() {
    while (worksPosted != worksDone && isOutstanding()) {
      completed(tailBlock, false);
    }
  }

  /** Whether a request is without its completion, as far as it has been seen. */
  boolean isOutstanding() {
    return published - tail > 0;
  }

  /** The request that completes next. */
  int oldest() {
    return tailBlock;
  }

  /** The request that was published last. */
  int newest() {
    return lastBlock;
  }

  /** Begins anew, with the first block. */
  void reset() {
    abandon();
    nextFence = 0;
    publishedFence = 0;
    posted = 0;
    published = 0;
    block = 0;
    head = 0;
    lastBlock = 0;
    tailBlock = 0;
    tail = 0;
    BigEndian.RECORD.setRelease(record.segment(), record.offset() + SEND_RECORD, 0);
  }
}
