package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;

/** Reads completions where they lie and takes those it has seen at the end. */
public final class RingCursor implements CompletionCursor {
  private final Supplier<CompletionRing> current;
  private final Runnable whenEmpty;
  private CompletionRing ring;
  private MemorySegment memory;
  private long state;
  private int count;
  private long slot;

  /**
   * Makes a cursor.
   *
   * @param current gives the ring that completions are in
   * @param whenEmpty called before an empty ring is reported; may throw
   */
  public RingCursor(Supplier<CompletionRing> current, Runnable whenEmpty) {
    this.current = current;
    this.whenEmpty = whenEmpty;
  }

  @Override
  public boolean start() {
    do {
      ring = current.get();
      state = ring.state();
    } while (state < 0);
    memory = ring.ring().memory();
    count = 0;
    if (!next()) {
      whenEmpty.run();
      return false;
    }
    return true;
  }

  @Override
  public boolean next() {
    long entry = ring.entry(state, count);
    if (entry < 0) {
      return false;
    }
    slot = entry;
    count++;
    return true;
  }

  /** Where the entries have moved meanwhile, those that were seen are the first of the new ring. */
  @Override
  public void end() {
    while (!ring.claim(state, count)) {
      if (ring.state() >= 0) {
        throw new IllegalStateException("the completion queue was polled between start() and end() of its cursor");
      }
      CompletionRing next = current.get();
      if (next != ring) {
        ring = next;
        state = ring.state();
      }
    }
  }

  @Override
  public long wrId() {
    return memory.get(JAVA_LONG, slot + CompletionSlot.WR_ID);
  }

  @Override
  public WcStatus status() {
    return CompletionSlot.status(memory, slot);
  }

  @Override
  public WcOpcode opcode() {
    return CompletionSlot.opcode(memory, slot);
  }

  @Override
  public int vendorError() {
    return field(CompletionSlot.VENDOR_ERROR);
  }

  @Override
  public int byteLength() {
    return field(CompletionSlot.BYTE_LENGTH);
  }

  @Override
  public int immediate() {
    return CompletionSlot.immediate(memory, slot);
  }

  @Override
  public int invalidatedRkey() {
    return immediate();
  }

  @Override
  public int qpNumber() {
    return field(CompletionSlot.QP_NUMBER);
  }

  @Override
  public int sourceQp() {
    return field(CompletionSlot.SOURCE_QP);
  }

  @Override
  public int flags() {
    return field(CompletionSlot.FLAGS);
  }

  @Override
  public int pkeyIndex() {
    return CompletionSlot.pkeyIndex(memory, slot);
  }

  @Override
  public int portNumber() {
    return CompletionSlot.portNumber(memory, slot);
  }

  private int field(long offset) {
    return memory.get(JAVA_INT, slot + offset);
  }
}
