package org.rdma4j.ulp.command;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How a command waits where it polls: busily at first, then leaving the processor to others, who may be the peer, and
 * it can be interrupted. Belongs to one thread; allocates nothing.
 */
public final class Patience {
  private static final int SPINS = 1_000;
  private static final int YIELDS = 2_000;
  private static final long NAP_NANOS = Duration.ofNanos(50_000).toNanos();

  private int tries;

  /** Has not waited yet. */
  public Patience() {}

  /** Something was found: the next wait is busy again. */
  public void rewarded() {
    tries = 0;
  }

  /**
   * Nothing was found: waits a little.
   *
   * @return whether this was a nap, so that something else may be looked at, too
   * @throws InterruptedException when the command was told to end
   */
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it: a yield that does nothing is a spin
  public boolean pause() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    tries++;
    if (tries <= SPINS) {
      Thread.onSpinWait();
    } else if (tries <= YIELDS) {
      Thread.yield();
    } else {
      tries = YIELDS;
      LockSupport.parkNanos(NAP_NANOS);
      return true;
    }
    return false;
  }
}
