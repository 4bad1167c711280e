package org.rdma4j.mlx5.core;

import java.util.LinkedHashMap;
import java.util.Map;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** Counter sets that queue pairs are bound to. */
public final class QueueCounterCommands {
  private static final int FIRST = 0x10;

  private QueueCounterCommands() {}

  /**
   * Allocates a set.
   *
   * @param channel the card
   * @return its number, 8 bits
   * @throws CommandException when the card refuses
   */
  public static int allocate(CommandChannel channel) {
    return channel.execute(CommandRequest.of(Opcode.ALLOC_Q_COUNTER)).get("counter_set_id");
  }

  /**
   * Frees a set.
   *
   * @param channel the card
   * @param set its number
   * @throws CommandException when the card refuses
   */
  public static void free(CommandChannel channel, int set) {
    channel.execute(CommandRequest.of(Opcode.DEALLOC_Q_COUNTER).set("counter_set_id", set));
  }

  /**
   * Reads a set.
   *
   * @param channel the card
   * @param set its number
   * @param clear whether it is set to zero
   * @return the counters by name, in the card's order
   * @throws CommandException when the card refuses
   */
  public static Map<String, Long> query(CommandChannel channel, int set, boolean clear) {
    CommandReply reply =
        channel.execute(
            CommandRequest.of(Opcode.QUERY_Q_COUNTER).set("counter_set_id", set).set("clear", clear ? 1 : 0));
    Map<String, Long> counters = new LinkedHashMap<>();
    for (Field field : Command.of(Opcode.QUERY_Q_COUNTER).output().fields()) {
      if (field.offset() >= FIRST && field.bits() > 0) {
        counters.put(field.name(), reply.get(field.name()) & 0xffff_ffffL);
      }
    }
    return counters;
  }
}
