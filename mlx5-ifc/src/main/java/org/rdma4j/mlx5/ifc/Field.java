package org.rdma4j.mlx5.ifc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A field of a structure: bits of a big-endian dword, a big-endian 64-bit number, or bytes (kernel: {@code MLX5_GET},
 * {@code MLX5_SET}). Access neither allocates nor locks; the memory belongs to the caller.
 */
public final class Field {
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final String name;
  private final long offset;
  private final int shift;
  private final int bits;
  private final long length;
  private final Layout inner;

  private Field(String name, long offset, int shift, int bits, long length, Layout inner) {
    this.name = name;
    this.offset = offset;
    this.shift = shift;
    this.bits = bits;
    this.length = length;
    this.inner = inner;
  }

  static Field ofBits(String name, long offset, int high, int low) {
    if (low < 0 || high < low || high > 31 || offset % Integer.BYTES != 0) {
      throw new IllegalArgumentException(name + ": bits " + high + ":" + low + " at " + offset);
    }
    return new Field(name, offset, low, high - low + 1, Integer.BYTES, null);
  }

  static Field ofBytes(String name, long offset, long length, Layout inner) {
    return new Field(name, offset, 0, 0, length, inner);
  }

  /** {@return the name, that of the kernel's sources} */
  public String name() {
    return name;
  }

  /** {@return byte offset in the structure, of the dword when it is bits} */
  public long offset() {
    return offset;
  }

  /** {@return how many bits it has, or 0 when it is bytes} */
  public int bits() {
    return bits;
  }

  /** {@return bytes that it takes, 4 when it is bits} */
  public long length() {
    return length;
  }

  /** {@return the structure that it holds, or null} */
  public Layout inner() {
    return inner;
  }

  /** {@return the largest value that bits can hold, unsigned} */
  public int max() {
    return bits == 0 ? 0 : -1 >>> (Integer.SIZE - bits);
  }

  /**
   * Reads bits.
   *
   * @param memory where the structure is
   * @param base offset of the structure
   * @return the value; 32 bits come as they are, fewer are not negative
   */
  public int get(MemorySegment memory, long base) {
    return memory.get(DWORD, base + offset) >>> shift & max();
  }

  /**
   * Writes bits; others of the dword stay.
   *
   * @param memory where the structure is
   * @param base offset of the structure
   * @param value the value
   * @throws IllegalArgumentException when the value has more bits
   */
  public void set(MemorySegment memory, long base, int value) {
    int mask = max();
    if ((value & ~mask) != 0) {
      throw new IllegalArgumentException("%s: 0x%x has more than %d bits".formatted(name, value, bits));
    }
    int others = memory.get(DWORD, base + offset) & ~(mask << shift);
    memory.set(DWORD, base + offset, others | value << shift);
  }

  /**
   * Picks bits out of the dword at {@link #offset}, for registers that are read one by one.
   *
   * @param dword the dword as a big-endian number
   * @return the value; 32 bits come as they are, fewer are not negative
   */
  public int extract(int dword) {
    return dword >>> shift & max();
  }

  /**
   * Reads a flag.
   *
   * @param memory where the structure is
   * @param base offset of the structure
   * @return whether any bit is set
   */
  public boolean isSet(MemorySegment memory, long base) {
    return get(memory, base) != 0;
  }

  /**
   * Reads a 64-bit number.
   *
   * @param memory where the structure is
   * @param base offset of the structure
   * @return the number
   */
  public long getLong(MemorySegment memory, long base) {
    return memory.get(QWORD, base + offset);
  }

  /**
   * Writes a 64-bit number.
   *
   * @param memory where the structure is
   * @param base offset of the structure
   * @param value the number
   */
  public void setLong(MemorySegment memory, long base, long value) {
    memory.set(QWORD, base + offset, value);
  }

  @Override
  public String toString() {
    return bits == 0
        ? "%s@0x%x(%dB)".formatted(name, offset, length)
        : "%s@0x%x[%d:%d]".formatted(name, offset, shift + bits - 1, shift);
  }
}
