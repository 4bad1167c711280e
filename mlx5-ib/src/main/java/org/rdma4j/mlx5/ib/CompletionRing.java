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

  private final DoorbellRecord record;
  private CompletionRoom room;
  private CompletionRoom next; // where the card goes on behind its entry that ends the room, or null
  private MemorySegment entries; // these two of the room
  private int logSize;
  private int consumer;
  private int published;

  private CompletionRing(CompletionRoom room, DoorbellRecord record) {
    this.record = record;
    goOnIn(room);
  }

  private void goOnIn(CompletionRoom other) {
    room = other;
    entries = other.entries();
    logSize = other.logSize();
  }

  /** Room for at least so many entries and one more. */
  static CompletionRing allocate(Mlx5Device core, int least) {
    CompletionRoom room = CompletionRoom.allocate(core, CompletionRoom.logSize(least));
    boolean made = false;
    try {
      DoorbellRecord record = Errors.translated(core::allocateDoorbellRecord);
      record.segment().set(BigEndian.INT, record.offset() + ARM_RECORD, FIRST_ARMING);
      made = true;
      return new CompletionRing(room, record);
    } finally {
      if (!made) {
        room.close();
      }
    }
  }

  /** The command that makes the card's queue of it. */
  CommandRequest creation(Mlx5Device core) {
    DmaBuffer buffer = room.buffer();
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

  CompletionRoom room() {
    return room;
  }

  /** The card is about to be given another room. */
  void expect(CompletionRoom other) {
    next = other;
  }

  /** The card does not take the other room, or it was taken. */
  void expectNothing() {
    next = null;
  }

  /** The entry that is looked at says that the card went on in the other room. */
  void turn() {
    if (next != null) {
      goOnIn(next);
      next = null;
    }
    consumer++;
  }

  /**
   * The card has gone on in the other room: what it has written here goes there, each entry one place further, so that
   * it lies before what the card writes there ({@code cq.c:copy_resize_cqes}).
   */
  void carryOver() {
    for (int ahead = 0; opcode(ahead) >= 0 && opcode(ahead) != CompletionEntry.RESIZE; ahead++) {
      int index = consumer + ahead + 1;
      CompletionEntry.copy(entries, at(ahead), next.entries(), next.place(index), index >>> next.logSize());
    }
    turn();
    publish();
  }

  @Override
  public void close() {
    record.close();
    room.close();
  }
}
