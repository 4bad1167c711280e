package org.rdma4j.rxe.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.engine.Completion;

/**
 * Completions on their way from the engine, which alone adds, to any number of pollers.
 *
 * <p>A poller copies entries first and then claims them by replacing the consumer index. The 32 bits of padding
 * after the index count the claims, and both are replaced as one word: a poller that slept while others emptied and
 * the engine refilled the whole ring finds another count, and copies again. So every completion is taken exactly
 * once, without a lock.
 */
public final class CompletionRing {
  private static final int CLAIM_SHIFT = 32;

  private final Ring ring;
  private final MemorySegment memory;
  private final int mask;
  private int producer; // engine only

  /**
   * Makes an empty ring.
   *
   * @param capacity entries it must hold at least, 1 or more
   */
  public CompletionRing(int capacity) {
    ring = new Ring(capacity, CompletionSlot.BYTES);
    memory = ring.memory();
    mask = ring.mask();
  }

  /** {@return the memory and its indices} */
  public Ring ring() {
    return ring;
  }

  /** {@return entries it holds when full} */
  public int capacity() {
    return mask;
  }

  /** {@return entries there are now} */
  public int size() {
    return (ring.producer() - (int) ring.consumerWord()) & mask;
  }

  /**
   * Adds a completion. Engine only.
   *
   * @param completion what to add
   * @param observed whether the caller looks at an arming afterwards, see {@link Ring#publishProducer}
   * @return false when the ring is full; nothing was added then
   */
  public boolean add(Completion completion, boolean observed) {
    int next = (producer + 1) & mask;
    if (next == ring.consumer()) {
      return false;
    }
    CompletionSlot.write(memory, ring.slot(producer), completion);
    producer = next;
    if (observed) {
      ring.publishProducer(next);
    } else {
      ring.releaseProducer(next);
    }
    return true;
  }

  /**
   * Takes completions, oldest first. Any thread.
   *
   * @param batch filled from index 0; holds anything where fewer are taken
   * @param max how many at most
   * @return how many were taken
   */
  public int poll(WorkCompletion[] batch, int max) {
    while (true) {
      long word = ring.consumerWord();
      int first = (int) word & mask;
      int count = Math.min((ring.producer() - first) & mask, max);
      if (count <= 0) {
        return 0;
      }
      for (int i = 0; i < count; i++) {
        CompletionSlot.read(memory, ring.slot(first + i), batch[i]);
      }
      if (claim(word, count)) {
        return count;
      }
    }
  }

  private boolean claim(long word, int count) {
    int next = ((int) word + count) & mask;
    long claims = (word >>> CLAIM_SHIFT) + 1;
    return ring.replaceConsumerWord(word, claims << CLAIM_SHIFT | next);
  }

  /** Reads entries where they lie and claims them at the end. */
  public final class Cursor implements CompletionCursor {
    private final Runnable whenEmpty;
    private long word;
    private int count;
    private long slot;

    /**
     * Makes a cursor.
     *
     * @param whenEmpty called before an empty ring is reported; may throw
     */
    public Cursor(Runnable whenEmpty) {
      this.whenEmpty = whenEmpty;
    }

    @Override
    public boolean start() {
      word = ring.consumerWord();
      count = 0;
      if (!next()) {
        whenEmpty.run();
        return false;
      }
      return true;
    }

    @Override
    public boolean next() {
      int index = ((int) word + count) & mask;
      if (index == ring.producer()) {
        return false;
      }
      slot = ring.slot(index);
      count++;
      return true;
    }

    @Override
    public void end() {
      if (!claim(word, count)) {
        throw new IllegalStateException("the completion queue was polled between start() and end() of its cursor");
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
}
