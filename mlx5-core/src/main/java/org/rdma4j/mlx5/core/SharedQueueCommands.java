package org.rdma4j.mlx5.core;

import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * Shared receive queues ({@code ib/srq_cmd.c}, as interface version 1 has them): an ordinary one is a receive memory
 * pool, one for XRC an object of its own.
 */
public final class SharedQueueCommands {
  private static final int WQ_AT = 0x30;
  private static final int ARM_XRC = 1;
  private static final int READY = 1;

  private SharedQueueCommands() {}

  /**
   * Finds the work queue in the context of an ordinary queue.
   *
   * @param pool {@code ctx} of CREATE_RMP, {@code rmp_context} of an answer
   * @return the work queue
   */
  public static Structure workQueue(Structure pool) {
    return new Structure(Layouts.WQ, pool.memory(), pool.base() + WQ_AT);
  }

  /**
   * Creates an ordinary queue.
   *
   * @param channel the card
   * @param request CREATE_RMP with context and page list; its state is filled in
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int create(CommandChannel channel, CommandRequest request) {
    request.structure("ctx").set("state", READY);
    return channel.execute(request).get("rmpn");
  }

  /**
   * Asks for one event when fewer receives are left.
   *
   * @param channel the card
   * @param number the queue
   * @param limit how many, 0 for no event
   * @throws CommandException when the card refuses
   */
  public static void arm(CommandChannel channel, int number, int limit) {
    CommandRequest request = CommandRequest.of(Opcode.MODIFY_RMP).set("rmp_state", READY).set("rmpn", number);
    request.structure("bitmask").set("lwm", 1);
    Structure context = request.structure("ctx").set("state", READY);
    workQueue(context).set("lwm", limit);
    channel.execute(request);
  }

  /**
   * Reads the context of an ordinary queue.
   *
   * @param channel the card
   * @param number the queue
   * @return the context
   * @throws CommandException when the card refuses
   */
  public static Structure query(CommandChannel channel, int number) {
    return channel.execute(CommandRequest.of(Opcode.QUERY_RMP).set("rmpn", number)).structure("rmp_context");
  }

  /**
   * Destroys an ordinary queue.
   *
   * @param channel the card
   * @param number the queue
   * @throws CommandException when the card refuses
   */
  public static void destroy(CommandChannel channel, int number) {
    channel.execute(CommandRequest.of(Opcode.DESTROY_RMP).set("rmpn", number));
  }

  /**
   * Creates a queue for XRC.
   *
   * @param channel the card
   * @param request CREATE_XRC_SRQ with context and page list
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int createXrc(CommandChannel channel, CommandRequest request) {
    return channel.execute(request).get("xrc_srqn");
  }

  /**
   * Asks for one event when a queue for XRC has fewer receives left.
   *
   * @param channel the card
   * @param number the queue
   * @param limit how many, 0 for no event
   * @throws CommandException when the card refuses
   */
  public static void armXrc(CommandChannel channel, int number, int limit) {
    channel.execute(
        CommandRequest.of(Opcode.ARM_XRC_SRQ).modifier(ARM_XRC).set("xrc_srqn", number).set("lwm", limit));
  }

  /**
   * Reads the context of a queue for XRC.
   *
   * @param channel the card
   * @param number the queue
   * @return the context
   * @throws CommandException when the card refuses
   */
  public static Structure queryXrc(CommandChannel channel, int number) {
    return channel
        .execute(CommandRequest.of(Opcode.QUERY_XRC_SRQ).set("xrc_srqn", number))
        .structure("xrc_srq_context_entry");
  }

  /**
   * Destroys a queue for XRC.
   *
   * @param channel the card
   * @param number the queue
   * @throws CommandException when the card refuses
   */
  public static void destroyXrc(CommandChannel channel, int number) {
    channel.execute(CommandRequest.of(Opcode.DESTROY_XRC_SRQ).set("xrc_srqn", number));
  }
}
