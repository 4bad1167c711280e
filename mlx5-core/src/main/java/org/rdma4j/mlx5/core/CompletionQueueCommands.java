package org.rdma4j.mlx5.core;

import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.rdma4j.mlx5.ifc.Opcode;

/** What is changed and asked of completion queues; they are created by {@link Mlx5Device#createCompletionQueue}. */
public final class CompletionQueueCommands {
  private static final int RESIZE = 1;
  private static final int SELECT_AT = 0xc;
  private static final int PERIOD_AND_COUNT = 3;

  private CompletionQueueCommands() {}

  /**
   * Lets events wait for several completions ({@code mlx5_core_modify_cq_moderation}).
   *
   * @param channel the card
   * @param cqn the queue
   * @param micros how long at most, in us
   * @param count for how many at most
   * @throws CommandException when the card refuses
   */
  public static void moderate(CommandChannel channel, int cqn, int micros, int count) {
    CommandRequest request = CommandRequest.of(Opcode.MODIFY_CQ).set("cqn", cqn);
    request.structure("cq_context").set("cq_period", micros).set("cq_max_count", count);
    select(request, PERIOD_AND_COUNT);
    channel.execute(request);
  }

  /**
   * Gives a queue another buffer. The card ends the old one with an entry of opcode 5.
   *
   * @param channel the card
   * @param cqn the queue
   * @param buffer the new buffer
   * @param fill fills in size, page size and page offset
   * @throws CommandException when the card refuses
   */
  public static void resize(CommandChannel channel, int cqn, DmaBuffer buffer, Consumer<Structure> fill) {
    CommandRequest request =
        CommandRequest.of(Opcode.MODIFY_CQ, (long) buffer.pages() * Long.BYTES).modifier(RESIZE).set("cqn", cqn);
    fill.accept(request.structure("cq_context"));
    buffer.listPages(request, 0, 0);
    select(request, 7);
    channel.execute(request);
  }

  private static void select(CommandRequest request, int bits) {
    request.input().set(ValueLayout.JAVA_BYTE, SELECT_AT + 3L, (byte) bits);
  }

  /**
   * Reads the context of a queue.
   *
   * @param channel the card
   * @param cqn the queue
   * @return the context
   * @throws CommandException when the card refuses
   */
  public static Structure query(CommandChannel channel, int cqn) {
    return channel.execute(CommandRequest.of(Opcode.QUERY_CQ).set("cqn", cqn)).structure("cq_context");
  }
}
