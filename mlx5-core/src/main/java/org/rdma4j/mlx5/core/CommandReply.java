package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** The output of a command that was carried out, by the names of its fields. Safe for any thread. */
public final class CommandReply {
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final Command command;
  private final MemorySegment output;

  /**
   * Wraps an output.
   *
   * @param opcode the command
   * @param output what the card answered
   */
  public CommandReply(Opcode opcode, MemorySegment output) {
    this.command = Command.of(opcode);
    this.output = output;
  }

  /**
   * Reads a number of up to 32 bits.
   *
   * @param field name of the field
   * @return the value; 32 bits come as they are
   * @throws IllegalArgumentException when there is no such field
   */
  public int get(String field) {
    return command.output().field(field).get(output, 0);
  }

  /**
   * Reads a number of 64 bits.
   *
   * @param field name of the field
   * @return the value
   * @throws IllegalArgumentException when there is no such field
   */
  public long getLong(String field) {
    return command.output().field(field).getLong(output, 0);
  }

  /**
   * Finds a structure in the output.
   *
   * @param field name of the field that holds it
   * @return the structure
   * @throws IllegalArgumentException when there is no such field or it is no structure
   */
  public Structure structure(String field) {
    Field found = command.output().field(field);
    if (found.inner() == null) {
      throw new IllegalArgumentException(field + " of " + command.opcode().text() + " is no structure");
    }
    return new Structure(found.inner(), output, found.offset());
  }

  /**
   * Finds bytes in the output.
   *
   * @param field name of the field
   * @return its bytes
   * @throws IllegalArgumentException when there is no such field
   */
  public MemorySegment bytes(String field) {
    Field found = command.output().field(field);
    return output.asSlice(found.offset(), found.length());
  }

  /**
   * Reads an entry of the list at the end.
   *
   * @param index which one, from 0
   * @return 64 bits
   */
  public long list(int index) {
    return output.get(QWORD, command.output().size() + (long) index * Long.BYTES);
  }

  /** {@return the list at the end of the output} */
  public MemorySegment list() {
    return output.asSlice(command.output().size());
  }

  /** {@return the whole output} */
  public MemorySegment output() {
    return output;
  }

  @Override
  public String toString() {
    return command.opcode().text() + " " + command.output().format(output, 0);
  }
}
