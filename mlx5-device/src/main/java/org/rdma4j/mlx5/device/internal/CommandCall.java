package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** One command: its input, and the output that is still zero. */
final class CommandCall {
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final MemorySegment input;
  private final MemorySegment output;

  CommandCall(MemorySegment input, MemorySegment output) {
    this.input = input;
    this.output = output;
  }

  MemorySegment input() {
    return input;
  }

  MemorySegment output() {
    return output;
  }

  /** Null when the number is no opcode. */
  Opcode opcode() {
    return Opcode.of(Command.OPCODE.get(input, 0));
  }

  int modifier() {
    return Command.OP_MOD.get(input, 0);
  }

  int get(Field field) {
    return field.get(input, 0);
  }

  void put(Field field, int value) {
    field.set(output, 0, value);
  }

  /** Entry of a list of 64-bit numbers in the input. */
  long listed(Field list, long index) throws CommandFailure {
    long at = list.offset() + index * Long.BYTES;
    if (index < 0 || at > input.byteSize() - Long.BYTES) {
      throw new CommandFailure(CommandStatus.BAD_INPUT_LENGTH, Syndrome.LIST_TOO_SHORT);
    }
    return input.get(QWORD, at);
  }

  /** Writes an entry of a list of 64-bit numbers to the output. */
  void list(Field list, long index, long value) throws CommandFailure {
    long at = list.offset() + index * Long.BYTES;
    if (index < 0 || at > output.byteSize() - Long.BYTES) {
      throw new CommandFailure(CommandStatus.BAD_OUTPUT_LENGTH, Syndrome.OUTPUT_TOO_SHORT);
    }
    output.set(QWORD, at, value);
  }

  /** How many entries a list in the output has room for. */
  long room(Field list) {
    return Math.max(0, (output.byteSize() - list.offset()) / Long.BYTES);
  }
}
