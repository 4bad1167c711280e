package org.rdma4j.pci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * A card with one function, seen from the slot it is plugged into. A bundle that brings a card registers it as a
 * service; the bus plugs it in, and out again when the service goes. The service property {@link #SLOT} says where,
 * as {@code 0000:03:00.0}; without it the bus chooses.
 *
 * <p>The bus calls {@link #plugged} first and {@link #unplugged} last, each once. Reads and writes come from any
 * thread, also several at once, and only between the two.
 */
@ConsumerType
public interface PciCard {
  /** Service property: the {@link PciAddress} where the card is to be plugged in. */
  String SLOT = "pci.slot";

  /** {@return what the card says it is} */
  PciIdentity identity();

  /** {@return the memory regions by the number of their first base address register, 0 to 5} */
  Map<Integer, BarLayout> bars();

  /** {@return where MSI-X is, or empty when the card has no interrupts} */
  Optional<MsixLayout> msix();

  /**
   * The card has power.
   *
   * @param host the way to the host's memory and interrupts, until {@link #unplugged}
   */
  void plugged(PciHost host);

  /** Brings the card back to the state after power-on (function-level reset): no DMA, no interrupts. */
  void reset();

  /** The card has no power any more. When this returns the card does not use its host again. */
  void unplugged();

  /**
   * Reads a register.
   *
   * @param bar number of the region
   * @param offset byte offset in it, a multiple of 4
   * @return the four bytes there, the first one lowest
   */
  int read(int bar, long offset);

  /**
   * Writes a register.
   *
   * @param bar number of the region
   * @param offset byte offset in it, a multiple of 4
   * @param value four bytes, the first one lowest
   */
  void write(int bar, long offset, int value);

  /**
   * A processor waits for the card: it looks at memory again and again and has nothing else to do. A card with
   * processors of its own does nothing. One that is a program may do some of its work on the calling thread, so that
   * it gets on where there are fewer processors than threads; nothing may depend on it, since no driver need tell.
   * Comes from any thread, also after {@link #unplugged}; neither waits nor allocates.
   *
   * @return whether something was done, so that it is worthwhile to look again
   */
  default boolean relax() {
    return false;
  }

  /**
   * Writes eight bytes at once; a card that does not care gets two writes, the lower one first.
   *
   * @param bar number of the region
   * @param offset byte offset in it, a multiple of 8
   * @param value eight bytes, the first one lowest
   */
  default void write(int bar, long offset, long value) {
    write(bar, offset, (int) value);
    write(bar, offset + Integer.BYTES, (int) (value >>> Integer.SIZE));
  }

  /**
   * Writes a block, as a processor's write combining does; a card that does not care gets writes of eight bytes.
   *
   * @param bar number of the region
   * @param offset byte offset in it, a multiple of 8
   * @param source memory with the bytes
   * @param from where in that memory
   * @param length bytes, a multiple of 8
   */
  default void write(int bar, long offset, MemorySegment source, long from, int length) {
    for (int i = 0; i < length; i += Long.BYTES) {
      write(bar, offset + i, source.get(ValueLayout.JAVA_LONG_UNALIGNED, from + i));
    }
  }
}
