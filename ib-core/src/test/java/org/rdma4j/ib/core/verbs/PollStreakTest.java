package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PollStreakTest {
  private static final int PACE_NANOS = 1_000;

  private final PollStreak streak = new PollStreak();
  private long now;

  private boolean poll(int times, long pace) {
    boolean goesOn = false;
    for (int i = 0; i < times; i++) {
      now += pace;
      goesOn = streak.goesOn(now);
    }
    return goesOn;
  }

  @Test
  void whoPollsWithoutEndHelps() {
    assertFalse(poll(60, PACE_NANOS));
    assertTrue(poll(10, PACE_NANOS));
    assertTrue(poll(1, PACE_NANOS), "and goes on");
  }

  @Test
  void whoLooksNowAndThenDoesNot() {
    assertFalse(poll(10_000, 60_000));
  }

  @Test
  void somePausesDoNotCount() {
    poll(100, PACE_NANOS);
    for (int i = 0; i < 100; i++) {
      assertTrue(poll(1, 3_000_000), "another took the processor");
      assertTrue(poll(16, PACE_NANOS));
    }
  }

  @Test
  void pausesBetweenManyPollsDoNotKeepFromHelping() {
    boolean helps = false;
    for (int i = 0; i < 20; i++) {
      poll(1, 3_000_000);
      helps = poll(16, PACE_NANOS);
    }
    assertTrue(helps);
  }

  @Test
  void whoBecomesSlowStopsHelping() {
    poll(100, PACE_NANOS);
    assertFalse(poll(8, 60_000));
    assertFalse(poll(60, PACE_NANOS));
    assertTrue(poll(10, PACE_NANOS));
  }

  @Test
  void theTimeThatHelpingTakesIsNoPause() {
    poll(100, PACE_NANOS);
    now += 1_000_000;
    streak.helped(now);
    assertTrue(poll(1, PACE_NANOS));
  }

  @Test
  void whereEverythingIsSlowSlowPollsAreNoPause() {
    poll(100, PACE_NANOS);
    for (int i = 0; i < 100; i++) {
      now += 20_000;
      streak.helped(now);
      assertTrue(poll(1, 400_000), "twenty duty cycles");
    }
    for (int i = 0; i < 8; i++) {
      assertTrue(poll(1, PACE_NANOS));
      now += 20_000;
      streak.helped(now);
      poll(1, 800_000);
    }
    assertFalse(poll(1, 800_000), "forty are too many");
  }

  @Test
  void whoGoesToSleepIsToldWhetherHeHelped() {
    poll(10, PACE_NANOS);
    assertFalse(streak.ends());
    poll(100, PACE_NANOS);
    assertTrue(streak.ends());
    assertFalse(streak.ends());
    assertFalse(poll(10, PACE_NANOS));
  }
}
