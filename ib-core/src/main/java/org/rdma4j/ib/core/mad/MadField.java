package org.rdma4j.ib.core.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A number in a MAD: some bits, the first byte's highest first (kernel: {@code IBA_GET} and {@code IBA_SET} of {@code
 * rdma/iba.h}). Immutable; access neither allocates nor locks.
 */
public final class MadField {
  private final String name;
  private final long offset;
  private final int bytes;
  private final int shift;
  private final int width;

  /**
   * Describes a number.
   *
   * @param name its name in messages
   * @param offset of its first byte from the start of the MAD
   * @param bit where it begins in that byte, 0 the most significant
   * @param width bits; with {@code bit} at most 64
   * @throws IllegalArgumentException when it begins outside of the byte or is too wide
   */
  public MadField(String name, long offset, int bit, int width) {
    this.name = name;
    this.offset = offset;
    this.bytes = (bit + width + Byte.SIZE - 1) / Byte.SIZE;
    this.shift = bytes * Byte.SIZE - bit - width;
    this.width = width;
    if (bit < 0 || bit >= Byte.SIZE || width < 1 || bytes > Long.BYTES) {
      throw new IllegalArgumentException(name + ": " + width + " bits from bit " + bit);
    }
  }

  /** {@return its name} */
  public String name() {
    return name;
  }

  /** {@return the largest value, unsigned} */
  public long max() {
    return -1L >>> (Long.SIZE - width);
  }

  /**
   * Reads it.
   *
   * @param mad the MAD
   * @return the value; one of 64 bits may look negative
   */
  public long get(MemorySegment mad) {
    return word(mad) >>> shift & max();
  }

  /**
   * Reads a number of at most 32 bits.
   *
   * @param mad the MAD
   * @return the value; one of 32 bits may look negative
   */
  public int getInt(MemorySegment mad) {
    return (int) get(mad);
  }

  /**
   * Reads a flag.
   *
   * @param mad the MAD
   * @return whether any bit is set
   */
  public boolean isSet(MemorySegment mad) {
    return get(mad) != 0;
  }

  /**
   * Sets the value and leaves the bits beside it.
   *
   * @param mad the MAD
   * @param value the value, unsigned
   * @throws IllegalArgumentException when the value has more bits than the field
   */
  public void set(MemorySegment mad, long value) {
    if ((value & ~max()) != 0) {
      throw new IllegalArgumentException(
          "%s: %s does not fit, at most %s is allowed"
              .formatted(name, Long.toUnsignedString(value), Long.toUnsignedString(max())));
    }
    long word = word(mad) & ~(max() << shift) | value << shift;
    for (int i = bytes - 1; i >= 0; i--) {
      mad.set(ValueLayout.JAVA_BYTE, offset + i, (byte) word);
      word >>>= Byte.SIZE;
    }
  }

  /**
   * Sets a number of 32 bits.
   *
   * @param mad the MAD
   * @param value the value, unsigned, so that it may look negative
   * @throws IllegalArgumentException when the value has more bits than the field
   */
  public void setInt(MemorySegment mad, int value) {
    set(mad, Integer.toUnsignedLong(value));
  }

  /**
   * Sets a flag.
   *
   * @param mad the MAD
   * @param value 1 or 0
   */
  public void setFlag(MemorySegment mad, boolean value) {
    set(mad, value ? 1 : 0);
  }

  private long word(MemorySegment mad) {
    long word = 0;
    for (int i = 0; i < bytes; i++) {
      word = word << Byte.SIZE | mad.get(ValueLayout.JAVA_BYTE, offset + i) & 0xff;
    }
    return word;
  }

  @Override
  public String toString() {
    return name;
  }
}
