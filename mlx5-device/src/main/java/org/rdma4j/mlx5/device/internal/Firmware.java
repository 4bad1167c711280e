package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * The commands that are modelled, and in which state of the function each may be given. Engine thread.
 */
final class Firmware {
  /** How far the driver has come. */
  enum State {
    /** After power-on or DISABLE_HCA. */
    DISABLED,
    /** After ENABLE_HCA. */
    ENABLED,
    /** After INIT_HCA. */
    INITIALIZED
  }

  private record Entry(CommandHandler handler, State least) {}

  private final Map<Opcode, Entry> table = new EnumMap<>(Opcode.class);
  private State state = State.DISABLED;

  State state() {
    return state;
  }

  void state(State next) {
    state = next;
  }

  /**
   * Adds a command.
   *
   * @param opcode its opcode; it must be described in the interface
   * @param least the state from which on it may be given
   * @param handler what it does
   */
  void add(Opcode opcode, State least, CommandHandler handler) {
    if (!Command.isKnown(opcode) || table.put(opcode, new Entry(handler, least)) != null) {
      throw new IllegalArgumentException(opcode.text());
    }
  }

  /** Executes a command, or fails it as a person wants, and writes the head of its output. */
  CommandFailure execute(CommandCall call, Faults faults) {
    MemorySegment output = call.output();
    try {
      int injected = faults.failsCommand(Command.OPCODE.get(call.input(), 0));
      if (injected != 0) {
        Command.STATUS.set(output, 0, injected);
        Command.SYNDROME.set(output, 0, Syndrome.INJECTED.number());
        return null;
      }
      run(call);
      Command.STATUS.set(output, 0, CommandStatus.OK.number());
      return null;
    } catch (CommandFailure failure) {
      output.fill((byte) 0);
      Command.STATUS.set(output, 0, failure.status().number());
      Command.SYNDROME.set(output, 0, failure.syndrome().number());
      return failure;
    }
  }

  private void run(CommandCall call) throws CommandFailure {
    Opcode opcode = call.opcode();
    Entry entry = opcode == null ? null : table.get(opcode);
    if (entry == null) {
      throw new CommandFailure(CommandStatus.BAD_OPERATION, Syndrome.UNKNOWN_OPCODE);
    }
    Command command = Command.of(opcode);
    if (call.input().byteSize() < command.input().size()) {
      throw new CommandFailure(CommandStatus.BAD_INPUT_LENGTH, Syndrome.INPUT_TOO_SHORT);
    }
    if (call.output().byteSize() < command.output().size()) {
      throw new CommandFailure(CommandStatus.BAD_OUTPUT_LENGTH, Syndrome.OUTPUT_TOO_SHORT);
    }
    if (state.compareTo(entry.least()) < 0) {
      throw new CommandFailure(
          CommandStatus.BAD_SYSTEM_STATE,
          state == State.DISABLED ? Syndrome.NOT_ENABLED : Syndrome.NOT_INITIALIZED);
    }
    entry.handler().run(call);
  }
}
