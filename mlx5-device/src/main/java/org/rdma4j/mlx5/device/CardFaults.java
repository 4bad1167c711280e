package org.rdma4j.mlx5.device;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Faults of a modelled card, one method each. What is counted happens that often and is over then; a function-level
 * reset ends what lasts ({@link #stopHealthCounter}, {@link #assertFatal}), {@link #clear} everything. Surprise removal
 * is the bus's: {@code PciBus.pull}. Safe for any thread.
 */
@ProviderType
public interface CardFaults {
  /**
   * Commands that are taken and never answered: they keep their entry, and no event comes.
   *
   * @param count how many from now on, not negative
   */
  void dropCommands(int count);

  /**
   * Commands that are not executed and answered with a status.
   *
   * @param opcode number of the opcode, or -1 for every one
   * @param status number of the command status, 1 to 255
   * @param count how many from now on, not negative
   */
  void failCommands(int opcode, int status, int count);

  /**
   * The health counter stands still, as when the firmware hangs; commands are executed nevertheless.
   *
   * @param stopped whether it stands
   */
  void stopHealthCounter(boolean stopped);

  /**
   * The firmware asserts: the health buffer is filled, a reset is asked for, the health counter stands, commands and
   * doorbells are not looked at, queue pairs send nothing more.
   *
   * @param syndrome number for the health buffer, 1 to 255; 1 is an internal error of the firmware
   */
  void assertFatal(int syndrome);

  /**
   * Interrupts that are lost: the event is written, its message is not sent.
   *
   * @param count how many from now on, not negative
   */
  void loseInterrupts(int count);

  /**
   * Accesses to host memory that fail as if nothing were mapped there.
   *
   * @param count how many from now on, not negative
   */
  void failDma(int count);

  /**
   * Bits of completion queue entries that arrive wrong: the lowest of the byte count.
   *
   * @param count how many entries from now on, not negative
   */
  void corruptCompletions(int count);

  /**
   * The cable.
   *
   * @param plugged whether it is plugged in; without it nothing is sent or received and the port is down
   */
  void cable(boolean plugged);

  /** Ends all of these but an assert, which only a reset ends. */
  void clear();
}
