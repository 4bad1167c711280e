package org.rdma4j.rxe.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * A ring of equal slots in native memory, as {@code struct rxe_queue_buf} of {@code rdma_user_rxe.h} lays it out:
 *
 * <pre>
 *   0x000  u32 log2_elem_size    0x004  u32 index_mask
 *   0x080  u32 producer_index    0x100  u32 consumer_index    (each on cache lines of its own)
 *   0x180  slots
 * </pre>
 *
 * <p>The number of slots is a power of two and one of them stays free: empty is producer = consumer, full is
 * producer + 1 = consumer. Indices are stored masked. Whoever reads one masks it again, so that an index never leads
 * out of the ring whatever the memory holds. The memory lives as long as somebody holds the ring, so that a late
 * reader finds it.
 */
public final class Ring {
  /** Offset of the binary logarithm of the slot size. */
  public static final long LOG2_ELEMENT_SIZE = 0x00;
  /** Offset of the number of slots less one. */
  public static final long INDEX_MASK = 0x04;
  /** Offset of the index of the slot that is filled next. */
  public static final long PRODUCER_INDEX = 0x80;
  /** Offset of the index of the slot that is taken next. */
  public static final long CONSUMER_INDEX = 0x100;
  /** Offset of the first slot. */
  public static final long DATA = 0x180;

  /** Where the memory of rings made in its scope comes from, in place of the system's; for tests of what fails. */
  public static final ScopedValue<SegmentAllocator> MEMORY = ScopedValue.newInstance();

  private static final int CACHE_LINE = 64;
  private static final VarHandle INDEX = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment memory;
  private final int mask;
  private final int shift;

  /**
   * Makes an empty ring.
   *
   * @param capacity entries it must hold at least, 1 or more
   * @param elementBytes bytes of an entry
   * @throws VerbsException ENOMEM when there is no memory for it
   */
  public Ring(int capacity, int elementBytes) {
    int slots = powerOfTwo(capacity + 1);
    mask = slots - 1;
    shift = Integer.numberOfTrailingZeros(powerOfTwo(Math.max(elementBytes, CACHE_LINE)));
    memory = allocate(DATA + ((long) slots << shift));
    memory.set(ValueLayout.JAVA_INT, LOG2_ELEMENT_SIZE, shift);
    memory.set(ValueLayout.JAVA_INT, INDEX_MASK, mask);
  }

  private static MemorySegment allocate(long bytes) {
    try {
      return (MEMORY.isBound() ? MEMORY.get() : Arena.ofAuto()).allocate(bytes, CACHE_LINE);
    } catch (OutOfMemoryError e) {
      throw new VerbsException(Errno.ENOMEM, "no native memory for a ring of " + bytes + " bytes", e);
    }
  }

  /**
   * {@return the smallest power of two that is not below a number}
   *
   * @param number 1 to 2^30
   */
  static int powerOfTwo(int number) {
    return number <= 1 ? 1 : Integer.highestOneBit(number - 1) << 1;
  }

  /** {@return entries it holds when full} */
  public int capacity() {
    return mask;
  }

  /** {@return the slots less one} */
  public int mask() {
    return mask;
  }

  /** {@return bytes of a slot} */
  public int slotBytes() {
    return 1 << shift;
  }

  /** {@return the whole memory, header included} */
  public MemorySegment memory() {
    return memory;
  }

  /**
   * {@return the offset of a slot in {@link #memory()}}
   *
   * @param index any number; masked
   */
  public long slot(int index) {
    return DATA + ((long) (index & mask) << shift);
  }

  /** {@return the producer's index; everything before it is visible} */
  public int producer() {
    return (int) INDEX.getVolatile(memory, PRODUCER_INDEX) & mask;
  }

  /**
   * Makes the slots before an index visible to the consumer. The store is volatile: what the producer reads
   * afterwards, a doorbell or an arming, is read after everybody can see the entry.
   *
   * @param index masked
   */
  public void publishProducer(int index) {
    INDEX.setVolatile(memory, PRODUCER_INDEX, index);
  }

  /**
   * As {@link #publishProducer}, for a producer that does not look at anything afterwards.
   *
   * @param index masked
   */
  public void releaseProducer(int index) {
    INDEX.setRelease(memory, PRODUCER_INDEX, index);
  }

  /** {@return the consumer's index; the slots before it may be filled again} */
  public int consumer() {
    return (int) INDEX.getAcquire(memory, CONSUMER_INDEX) & mask;
  }

  /**
   * Gives the slots before an index back to the producer.
   *
   * @param index masked
   */
  public void releaseConsumer(int index) {
    INDEX.setRelease(memory, CONSUMER_INDEX, index);
  }

  /**
   * The consumer index in the lower half and the padding after it in the upper (little-endian): see CompletionRing.
   */
  long consumerWord() {
    return (long) WORD.getAcquire(memory, CONSUMER_INDEX);
  }

  boolean replaceConsumerWord(long expected, long next) {
    return WORD.compareAndSet(memory, CONSUMER_INDEX, expected, next);
  }
}
