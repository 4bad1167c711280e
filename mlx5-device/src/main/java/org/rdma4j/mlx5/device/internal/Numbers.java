package org.rdma4j.mlx5.device.internal;

import java.util.function.IntPredicate;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** Commands for objects that are hardly more than a number: protection, XRC and transport domains. Engine thread. */
final class Numbers {
  private Numbers() {}

  /**
   * Adds the commands of one type.
   *
   * @param table where the numbers are
   * @param allocate the opcode that makes one
   * @param free the opcode that ends one
   * @param field name of the field with the number, in the output of one and the input of the other
   * @param inUse whether something needs a number
   */
  static void add(
      Firmware firmware, EntryTable table, Opcode allocate, Opcode free, String field, IntPredicate inUse) {
    Field allocated = Command.out(allocate, field);
    Field freed = Command.in(free, field);
    firmware.add(allocate, State.INITIALIZED, call -> call.put(allocated, table.allocate()));
    firmware.add(
        free,
        State.INITIALIZED,
        call -> {
          int number = table.existing(call.get(freed));
          if (inUse.test(number)) {
            throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
          }
          table.free(number);
        });
  }
}
