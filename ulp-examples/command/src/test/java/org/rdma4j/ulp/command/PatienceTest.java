package org.rdma4j.ulp.command;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatienceTest {
  private static final int LONG = 3_000;

  @Test
  void napsComeAfterALongTimeAndNotAgainAfterAReward() throws Exception {
    Patience patience = new Patience();
    assertFalse(patience.pause());
    boolean nap = false;
    for (int i = 0; i < LONG; i++) {
      nap |= patience.pause();
    }
    assertTrue(nap);
    assertTrue(patience.pause());
    patience.rewarded();
    assertFalse(patience.pause());
  }

  @Test
  void itCanBeInterrupted() {
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, new Patience()::pause);
    assertFalse(Thread.interrupted());
  }
}
