package org.rdma4j.mlx5.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** The input of a command, by the names of its fields. May be executed again. For one thread at a time. */
public final class CommandRequest {
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final Command command;
  private final MemorySegment input;
  private final long inputList;
  private long outputBytes;

  private CommandRequest(Opcode opcode, long listBytes) {
    this.command = Command.of(opcode);
    this.inputList = command.input().size();
    this.input = Arena.ofAuto().allocate(inputList + listBytes, Long.BYTES);
    this.outputBytes = command.output().size();
    Command.OPCODE.set(input, 0, opcode.number());
  }

  /**
   * Begins a command without a list.
   *
   * @param opcode the command
   * @return its input, all zero
   */
  public static CommandRequest of(Opcode opcode) {
    return new CommandRequest(opcode, 0);
  }

  /**
   * Begins a command whose input ends with a list: page addresses, translations, a register.
   *
   * @param opcode the command
   * @param listBytes length of the list in bytes
   * @return its input, all zero
   */
  public static CommandRequest of(Opcode opcode, long listBytes) {
    return new CommandRequest(opcode, listBytes);
  }

  /**
   * Makes room for a list at the end of the output.
   *
   * @param listBytes length of the list in bytes
   * @return this
   */
  public CommandRequest answerList(long listBytes) {
    outputBytes = command.output().size() + listBytes;
    return this;
  }

  /**
   * Sets the modifier of the command.
   *
   * @param modifier 16 bits
   * @return this
   */
  public CommandRequest modifier(int modifier) {
    Command.OP_MOD.set(input, 0, modifier);
    return this;
  }

  /**
   * Sets the user context in whose name the command is.
   *
   * @param uid 16 bits, 0 for the kernel
   * @return this
   */
  public CommandRequest uid(int uid) {
    Command.UID.set(input, 0, uid);
    return this;
  }

  /**
   * Writes a number of up to 32 bits.
   *
   * @param field name of the field
   * @param value the value
   * @return this
   * @throws IllegalArgumentException when there is no such field or the value has too many bits
   */
  public CommandRequest set(String field, int value) {
    command.input().field(field).set(input, 0, value);
    return this;
  }

  /**
   * Finds a structure in the input, to fill it in place.
   *
   * @param field name of the field that holds it
   * @return the structure
   * @throws IllegalArgumentException when there is no such field or it is no structure
   */
  public Structure structure(String field) {
    Field found = command.input().field(field);
    if (found.inner() == null) {
      throw new IllegalArgumentException(field + " of " + command.opcode().text() + " is no structure");
    }
    return new Structure(found.inner(), input, found.offset());
  }

  /**
   * Finds bytes in the input, to fill them in place.
   *
   * @param field name of the field
   * @return its bytes
   * @throws IllegalArgumentException when there is no such field
   */
  public MemorySegment bytes(String field) {
    Field found = command.input().field(field);
    return input.asSlice(found.offset(), found.length());
  }

  /**
   * Writes an entry of the list.
   *
   * @param index which one, from 0
   * @param value 64 bits
   * @return this
   */
  public CommandRequest list(int index, long value) {
    input.set(QWORD, inputList + (long) index * Long.BYTES, value);
    return this;
  }

  /** {@return the list at the end of the input} */
  public MemorySegment list() {
    return input.asSlice(inputList);
  }

  /** {@return the whole input} */
  public MemorySegment input() {
    return input;
  }

  /** {@return bytes of the output that are wanted} */
  public long outputBytes() {
    return outputBytes;
  }

  /** {@return the command} */
  public Opcode opcode() {
    return command.opcode();
  }

  /** {@return the modifier} */
  public int modifier() {
    return Command.OP_MOD.get(input, 0);
  }

  @Override
  public String toString() {
    return command.opcode().text() + " " + command.input().format(input, 0);
  }
}
