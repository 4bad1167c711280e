package org.rdma4j.mlx5.device.internal;

/** What the firmware does on a command; engine thread. */
@FunctionalInterface
interface CommandHandler {
  /**
   * Executes a command whose fixed part is there.
   *
   * @param call input and output
   * @throws CommandFailure when the command is refused; then nothing has changed
   */
  void run(CommandCall call) throws CommandFailure;
}
