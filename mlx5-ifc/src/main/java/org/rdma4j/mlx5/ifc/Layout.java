package org.rdma4j.mlx5.ifc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A structure: its fields by name, in the order of their places. Immutable; safe for any thread. */
public final class Layout {
  private static final int SHOWN_BYTES = 16;

  private final String name;
  private final long size;
  private final Map<String, Field> fields;

  Layout(String name, long size, Map<String, Field> fields) {
    this.name = name;
    this.size = size;
    this.fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  /** {@return the name} */
  public String name() {
    return name;
  }

  /** {@return bytes without a list at its end} */
  public long size() {
    return size;
  }

  /** {@return all fields} */
  public Collection<Field> fields() {
    return fields.values();
  }

  /**
   * Finds a field; meant to be called once, for a constant.
   *
   * @param field name of the field
   * @return the field
   * @throws IllegalArgumentException when there is none of that name
   */
  public Field field(String field) {
    Field found = fields.get(field);
    if (found == null) {
      throw new IllegalArgumentException(name + " has no field " + field + ", only " + fields.keySet());
    }
    return found;
  }

  /**
   * Writes down what is not zero.
   *
   * @param memory where the structure is
   * @param base its offset
   * @return {@code name=value} for each field that is not zero, separated by blanks
   */
  public String format(MemorySegment memory, long base) {
    StringBuilder text = new StringBuilder();
    append(text, "", memory, base);
    return text.toString();
  }

  private void append(StringBuilder text, String prefix, MemorySegment memory, long base) {
    for (Field field : fields.values()) {
      if (field.length() == 0 || base + field.offset() + field.length() > memory.byteSize()) {
        continue;
      }
      if (field.inner() != null) {
        field.inner().append(text, prefix + field.name() + ".", memory, base + field.offset());
      } else if (field.bits() > 0) {
        appendNumber(text, prefix + field.name(), field.get(memory, base) & 0xffff_ffffL);
      } else if (field.length() == Long.BYTES) {
        appendNumber(text, prefix + field.name(), field.getLong(memory, base));
      } else {
        appendBytes(text, prefix + field.name(), memory, base + field.offset(), field.length());
      }
    }
  }

  private static void appendNumber(StringBuilder text, String name, long value) {
    if (value != 0) {
      text.append(text.isEmpty() ? "" : " ").append(name).append("=0x").append(Long.toHexString(value));
    }
  }

  private static void appendBytes(StringBuilder text, String name, MemorySegment memory, long at, long length) {
    StringBuilder bytes = new StringBuilder();
    boolean any = false;
    for (long i = 0; i < length; i++) {
      int value = memory.get(ValueLayout.JAVA_BYTE, at + i) & 0xff;
      any |= value != 0;
      if (i < SHOWN_BYTES) {
        bytes.append(Character.forDigit(value >> 4, 16)).append(Character.forDigit(value & 0xf, 16));
      }
    }
    if (any) {
      text.append(text.isEmpty() ? "" : " ").append(name).append('=').append(bytes);
      text.append(length > SHOWN_BYTES ? ".." : "");
    }
  }

  @Override
  public String toString() {
    return name + " (" + size + " bytes)";
  }
}
