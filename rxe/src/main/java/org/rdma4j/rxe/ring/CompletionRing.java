package org.rdma4j.rxe.ring;

import java.lang.foreign.MemorySegment;
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
  private static final long CLAIM_MASK = 0x7fff_ffffL;
  private static final long SEALED = 1L << 63;

  /** What {@link #poll} answers when the entries have moved to another ring. */
  public static final int MOVED = -1;

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
   * @return how many were taken, or {@link #MOVED}
   */
  public int poll(WorkCompletion[] batch, int max) {
    while (true) {
      long word = ring.consumerWord();
      if (word < 0) {
        return MOVED;
      }
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

  /** {@return the state of the consumer's side, for {@link #claim}; negative when the entries have moved} */
  long state() {
    return ring.consumerWord();
  }

  /** {@return the offset of the entry that many places after the first of a state, or -1 when there is none} */
  long entry(long state, int place) {
    int index = ((int) state + place) & mask;
    return index == ring.producer() ? -1 : ring.slot(index);
  }

  /** Takes the first entries of a state; false when the state is another one by now. */
  boolean claim(long state, int count) {
    int next = ((int) state + count) & mask;
    long claims = ((state >>> CLAIM_SHIFT) + 1) & CLAIM_MASK;
    return state >= 0 && ring.replaceConsumerWord(state, claims << CLAIM_SHIFT | next);
  }

  /**
   * Moves all entries to another, empty ring. No poller takes any from here afterwards, and none from there before
   * the caller shows it the other ring. Engine only.
   *
   * @param target the other ring
   * @return false when the entries do not fit there; nothing has changed then
   */
  public boolean moveTo(CompletionRing target) {
    long state;
    int count;
    do {
      state = ring.consumerWord();
      count = (producer - (int) state) & mask;
      if (count > target.capacity()) {
        return false;
      }
    } while (!ring.replaceConsumerWord(state, state | SEALED));
    for (int i = 0; i < count; i++) {
      MemorySegment.copy(
          memory, ring.slot((int) state + i), target.memory, target.ring.slot(i), CompletionSlot.BYTES);
    }
    target.producer = count;
    target.ring.publishProducer(count);
    return true;
  }
}
