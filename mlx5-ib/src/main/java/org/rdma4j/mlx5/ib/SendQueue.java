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
  private static final int FENCE = 2 << 5;
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
  private int number;
  private int posted; // blocks that the card has been told of
  private int published; // requests that it has been told of
  private int block; // where the next request begins
  private int head; // requests written
  private int lastBlock; // where the last request that was published begins
  private volatile int tail; // requests completed
  private int tailBlock; // where the next request to complete begins
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
  }

  void number(int qpn) {
    number = qpn;
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

  /** Begins a request; there is room for it. */
  void begin() {
    at = SEGMENT;
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
        ((flags & SendFlag.FENCE) != 0 ? FENCE : 0)
            | (signaled ? UPDATE_CQ : 0)
            | ((flags & SendFlag.SOLICITED) != 0 ? SOLICITED : 0));
    ring.set(INT, to + 12, immediate);
    int index = block & mask;
    wrIds[index] = wrId;
    heads[index] = head;
    lengths[index] = (byte) blocks;
    opcodes[index] = (byte) completes.ordinal();
    head++;
    block += blocks;
    lastBlock = index;
  }

  /** Takes back what was written since the last {@link #publish}. */
  void forget() {
    block = posted;
    head = published;
  }

  /** Tells the card; one request that does not wrap is handed over whole. */
  void publish() {
    int count = head - published;
    if (count == 0) {
      return;
    }
    long first = (long) (posted & mask) * BLOCK;
    int bytes = (block - posted) * BLOCK;
    posted = block;
    published = head;
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

  /** A request and all before it are complete. */
  void completed(int index) {
    tailBlock = index + lengths[index] & mask;
    tail = heads[index] + 1;
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
