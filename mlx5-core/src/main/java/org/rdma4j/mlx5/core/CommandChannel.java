package org.rdma4j.mlx5.core;

/** Gives commands to a card. */
@FunctionalInterface
public interface CommandChannel {
  /**
   * Gives one command and waits for its answer ({@code mlx5_cmd_exec}).
   *
   * @param request the command
   * @return the answer
   * @throws CommandException when the card does not carry it out, with the errno of its status; EIO in error state;
   *     ETIMEDOUT without an answer; ENXIO when the device goes meanwhile
   */
  CommandReply execute(CommandRequest request);
}
