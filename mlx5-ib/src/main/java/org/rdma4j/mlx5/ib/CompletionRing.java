package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * What a completion queue lies in: the ring of entries that the card writes, and the doorbell record (kernel: {@code
 * struct mlx5_ib_cq_buf}). For one thread at a time.
 */
final class CompletionRing implements AutoCloseable {
  private static final int ARM_RECORD = 4;
  private static final int COUNT_MASK = 0xff_ffff;
  private static final int SEQUENCE_SHIFT = 28;
  private static final int FIRST_ARMING = 2 << SEQUENCE_SHIFT;

  private final DmaBuffer buffer;
  private final DoorbellRecord record;
  private final MemorySegment entries;
  private final int logSize;
  private int consumer;
  private int published;

  private CompletionRing(DmaBuffer buffer, DoorbellRecord record, int logSize) {
    this.buffer = buffer;
    this.record = record;
    this.entries = buffer.segment();
    this.logSize = logSize;
  }

  /** Room for at least so many entries and one more. */
  static CompletionRing allocate(Mlx5Device core, int least) {
    int log = Integer.SIZE - Integer.numberOfLeadingZeros(least);
    DmaBuffer buffer = Errors.translated(() -> core.allocate((long) CompletionEntry.BYTES << log));
    boolean made = false;
    try {
      CompletionEntry.initialize(buffer.segment());
      DoorbellRecord record = Errors.translated(core::allocateDoorbellRecord);
      record.segment().set(BigEndian.INT, record.offset() + ARM_RECORD, FIRST_ARMING);
      made = true;
      return new CompletionRing(buffer, record, log);
    } finally {
      if (!made) {
        buffer.close();
      }
    }
  }

  /** The command that makes the card's queue of it. */
  CommandRequest creation(Mlx5Device core) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_CQ, (long) buffer.pages() * Long.BYTES);
    request
        .structure("cq_context")
        .set("log_cq_size", logSize)
        .set("uar_page", core.uar().index())
        .setLong("dbr_addr", record.address());
    buffer.listPages(request, 0, 0);
    return request;
  }

  /** How many completions there is room for ({@code cqe}). */
  int capacity() {
    return (1 << logSize) - 1;
  }

  MemorySegment entries() {
    return entries;
  }

  /** Where the entry that is looked at lies. */
  long at() {
    return place(consumer);
  }

  /** Where an entry lies, counted from the one that is looked at. */
  long at(int ahead) {
    return place(consumer + ahead);
  }

  private long place(int index) {
    return (long) (index & (1 << logSize) - 1) * CompletionEntry.BYTES;
  }

  /** The opcode of the entry that is looked at, or -1 where the card has not written it. */
  int opcode() {
    return opcode(0);
  }

  /** The opcode of an entry, counted from the one that is looked at, or -1. */
  int opcode(int ahead) {
    int index = consumer + ahead;
    return CompletionEntry.opcode(entries, place(index), index >>> logSize);
  }

  /** The entry that is looked at is taken. */
  void advance() {
    consumer++;
  }

  /** Tells the card what was taken. */
  void publish() {
    if (published != consumer) {
      published = consumer;
      BigEndian.RECORD.setRelease(record.segment(), record.offset(), consumer & COUNT_MASK);
    }
  }

  /** The record is written before the register, since the card reads it again. */
  void arm(UarPage uar, int cqn, int sequence, int which) {
    int command = (sequence & 3) << SEQUENCE_SHIFT | which | consumer & COUNT_MASK;
    BigEndian.RECORD.setRelease(record.segment(), record.offset() + ARM_RECORD, command);
    VarHandle.fullFence();
    uar.armCompletionQueue(command, cqn);
  }

  @Override
  public void close() {
    record.close();
    buffer.close();
  }
}
