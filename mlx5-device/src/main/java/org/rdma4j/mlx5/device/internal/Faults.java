package org.rdma4j.mlx5.device.internal;

import java.util.concurrent.atomic.AtomicInteger;
import org.rdma4j.mlx5.device.CardFaults;

/** What is broken now. Any thread sets, any part of the card asks; asking costs a read while nothing is broken. */
final class Faults implements CardFaults {
  private static final int ANY = -1;
  private static final int BYTE = 0xff;

  /** How the rest of the card hears of faults that are more than a question. */
  interface Listener {
    /** The firmware asserts. */
    void asserted(int syndrome);

    /** The cable was plugged in or pulled. */
    void cable(boolean plugged);
  }

  private final AtomicInteger dropped = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicInteger interrupts = new AtomicInteger();
  private final AtomicInteger dma = new AtomicInteger();
  private final AtomicInteger completions = new AtomicInteger();
  private volatile int failedOpcode;
  private volatile int failedStatus;
  private volatile boolean healthStopped;
  private volatile boolean asserted;
  private volatile Listener listener;

  /** Who hears of them, from when the card has power. */
  void listener(Listener next) {
    listener = next;
  }

  @Override
  public void dropCommands(int count) {
    dropped.set(checked(count));
  }

  @Override
  public void failCommands(int opcode, int status, int count) {
    if (status < 1 || status > BYTE) {
      throw new IllegalArgumentException("command status " + status + ": allowed is 1 to 255");
    }
    failedOpcode = opcode;
    failedStatus = status;
    failed.set(checked(count));
  }

  @Override
  public void stopHealthCounter(boolean stopped) {
    healthStopped = stopped;
  }

  @Override
  public void assertFatal(int syndrome) {
    if (syndrome < 1 || syndrome > BYTE) {
      throw new IllegalArgumentException("health syndrome " + syndrome + ": allowed is 1 to 255");
    }
    asserted = true;
    Listener who = listener;
    if (who != null) {
      who.asserted(syndrome);
    }
  }

  @Override
  public void loseInterrupts(int count) {
    interrupts.set(checked(count));
  }

  @Override
  public void failDma(int count) {
    dma.set(checked(count));
  }

  @Override
  public void corruptCompletions(int count) {
    completions.set(checked(count));
  }

  @Override
  public void cable(boolean plugged) {
    Listener who = listener;
    if (who != null) {
      who.cable(plugged);
    }
  }

  @Override
  public void clear() {
    dropped.set(0);
    failed.set(0);
    interrupts.set(0);
    dma.set(0);
    completions.set(0);
    healthStopped = false;
    cable(true);
  }

  /** The function was reset. */
  void reset() {
    healthStopped = false;
    asserted = false;
  }

  private static int checked(int count) {
    if (count < 0) {
      throw new IllegalArgumentException("a count of " + count + ": allowed is 0 or more");
    }
    return count;
  }

  private static boolean take(AtomicInteger left) {
    return left.getPlain() > 0 && left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
  }

  /** Whether the firmware is dead. */
  boolean isAsserted() {
    return asserted;
  }

  boolean healthStands() {
    return healthStopped || asserted;
  }

  boolean dropsCommand() {
    return take(dropped);
  }

  /** The status that a command is to fail with, or 0. */
  int failsCommand(int opcode) {
    if (failed.get() == 0 || (failedOpcode != ANY && failedOpcode != opcode)) {
      return 0;
    }
    return take(failed) ? failedStatus : 0;
  }

  boolean losesInterrupt() {
    return take(interrupts);
  }

  boolean failsDma() {
    return take(dma);
  }

  boolean corruptsCompletion() {
    return take(completions);
  }
}
