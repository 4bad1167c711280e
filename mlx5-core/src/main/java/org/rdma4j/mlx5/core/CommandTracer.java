package org.rdma4j.mlx5.core;

import org.osgi.annotation.versioning.ConsumerType;

/** Sees every command that goes to the card. */
@ConsumerType
@FunctionalInterface
public interface CommandTracer {
  /**
   * A command is over. Called by the thread that gave the command; must not block or give commands itself.
   *
   * @param command the command
   */
  void executed(CommandRecord command);
}
