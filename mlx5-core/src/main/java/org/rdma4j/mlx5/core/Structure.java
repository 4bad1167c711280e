package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.Layout;

/**
 * A structure of the card's interface somewhere in memory, by the names of its fields. For the control path; the data
 * path keeps the {@link org.rdma4j.mlx5.ifc.Field}s.
 *
 * @param layout what it looks like
 * @param memory where it is
 * @param base offset of its first byte
 */
public record Structure(Layout layout, MemorySegment memory, long base) {
  /**
   * Reads a number of up to 32 bits.
   *
   * @param field name of the field
   * @return the value; 32 bits come as they are
   * @throws IllegalArgumentException when there is no such field
   */
  public int get(String field) {
    return layout.field(field).get(memory, base);
  }

  /**
   * Writes a number of up to 32 bits.
   *
   * @param field name of the field
   * @param value the value
   * @return this
   * @throws IllegalArgumentException when there is no such field or the value has too many bits
   */
  public Structure set(String field, int value) {
    layout.field(field).set(memory, base, value);
    return this;
  }

  /**
   * Reads a number of 64 bits.
   *
   * @param field name of the field
   * @return the value
   * @throws IllegalArgumentException when there is no such field
   */
  public long getLong(String field) {
    return layout.field(field).getLong(memory, base);
  }

  /**
   * Writes a number of 64 bits.
   *
   * @param field name of the field
   * @param value the value
   * @return this
   * @throws IllegalArgumentException when there is no such field
   */
  public Structure setLong(String field, long value) {
    layout.field(field).setLong(memory, base, value);
    return this;
  }

  /**
   * Takes all bytes from a structure of the same layout.
   *
   * @param other the other one
   * @return this
   */
  public Structure copyFrom(Structure other) {
    MemorySegment.copy(other.memory, other.base, memory, base, layout.size());
    return this;
  }

  /** {@return what is not zero, as {@code name=value}} */
  @Override
  public String toString() {
    return layout.format(memory, base);
  }
}
