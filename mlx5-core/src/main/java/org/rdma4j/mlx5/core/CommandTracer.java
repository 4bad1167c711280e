package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ConsumerType;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * Sees every command of every card, as a service of whoever wants to look; the first one counts. Without one it costs
 * nothing but the look at a field. Called by the thread that gives the command; must not block or give commands itself.
 */
@ConsumerType
@FunctionalInterface
public interface CommandTracer {
  /**
   * A command is about to be given.
   *
   * @param device address of the PCI function
   * @param opcode the command
   * @param modifier its modifier
   */
  default void begins(String device, Opcode opcode, int modifier) {}

  /**
   * A command is over.
   *
   * @param command the command
   */
  void executed(CommandRecord command);
}
